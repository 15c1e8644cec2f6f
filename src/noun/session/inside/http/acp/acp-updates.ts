/** Events of a session as an ACP agent reports them to its client: `session/update`, and requests for a permission or an answer. */
import type { Choice, ContentBlock, Question, SessionEvent } from '../../../model/session.ts';

export interface Envelope {
  readonly id?: string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

const textBlock = (text: string): ContentBlock => ({ type: 'text', text });

export class AcpUpdates {
  readonly #tools = new Set<string>();

  /** Translates an event to updates; a question has none. */
  take(event: SessionEvent): readonly object[] {
    if (event.type === 'prompt')
      return event.data.content.map((content) => messageChunk('user_message_chunk', content));
    if (event.type === 'text') return [messageChunk('agent_message_chunk', textBlock(event.data.text))];
    if (event.type === 'thought') return [messageChunk('agent_thought_chunk', textBlock(event.data.text))];
    if (event.type === 'tool') return [this.#tool(event.data)];
    if (event.type === 'plan') return [{ sessionUpdate: 'plan', entries: event.data.entries }];
    if (event.type === 'session.titled') return [{ sessionUpdate: 'session_info_update', title: event.data.title }];
    if (event.type === 'session.configured') return configured(event.data);
    if (event.type === 'update' && typeof event.data.sessionUpdate === 'string') return [event.data];
    return [];
  }

  #tool({ truncated: _, ...change }: Extract<SessionEvent, { type: 'tool' }>['data']): object {
    if (this.#tools.has(change.toolCallId)) return { sessionUpdate: 'tool_call_update', ...change };
    this.#tools.add(change.toolCallId);
    return { sessionUpdate: 'tool_call', title: 'tool', ...change };
  }
}

function messageChunk(sessionUpdate: string, content: ContentBlock): object {
  return { sessionUpdate, content };
}

function configured({ modes, commands }: Extract<SessionEvent, { type: 'session.configured' }>['data']): object[] {
  return [
    ...(modes ? [{ sessionUpdate: 'current_mode_update', currentModeId: modes.current }] : []),
    ...(commands ? [{ sessionUpdate: 'available_commands_update', availableCommands: commands }] : []),
  ];
}

/** Null: the client cannot answer such a question. */
export function questionRequest(sessionId: string, question: Question, canFillForms: boolean): Envelope | null {
  const { pendingId: id, title, options, schema, toolCallId = id } = question;
  if (options !== undefined) {
    const choices = options.map((one) => ({ optionId: one.id, name: one.name, kind: one.kind ?? 'allow_once' }));
    return {
      id,
      method: 'session/request_permission',
      params: { sessionId, toolCall: { toolCallId, title }, options: choices },
    };
  }
  if (!canFillForms || schema === undefined) return null;
  return {
    id,
    method: 'elicitation/create',
    params: { sessionId, mode: 'form', message: title, requestedSchema: schema },
  };
}

export function modesOf(modes: Choice | null): object {
  if (modes === null) return {};
  return { modes: { currentModeId: modes.current, availableModes: modes.available } };
}

export function modelsOf(models: Choice | null): object {
  if (models === null) return {};
  const availableModels = models.available.map(({ id, ...rest }) => ({ modelId: id, ...rest }));
  return { models: { currentModelId: models.current, availableModels } };
}
