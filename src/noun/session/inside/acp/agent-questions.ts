/** Requests of an agent that a person answers: permission for a tool, and forms. */

import { clip } from '../../../../model/shape.ts';
import { answerPermission, permissionRequest, ruleFor } from '../../../agent/inside/acp/permission.ts';
import type { AcpSpec } from '../../../agent/model/agent.ts';
import { eventData } from '../../model/event.ts';
import { type Question, sessionLimits } from '../../model/session.ts';
import type { Recorder } from '../driver/driver.ts';
import { bound, cutText } from './bound.ts';
import { eventOf } from './translate.ts';

type Json = Readonly<Record<string, unknown>>;

const maxId = 500;

export class AgentQuestions {
  readonly #spec: AcpSpec;
  readonly #recorder: Recorder;

  constructor(spec: AcpSpec, recorder: Recorder) {
    this.#spec = spec;
    this.#recorder = recorder;
  }

  /** Null: not a request for a person. */
  requested(method: string, params: Json): Promise<unknown> | null {
    if (method === 'session/request_permission') return this.#permission(params);
    if (method === 'elicitation/create') return this.#form(params);
    return null;
  }

  /** If the owner has a rule for this kind of tool, the rule answers. */
  async #permission(params: Json): Promise<unknown> {
    const { call, kind, options } = permissionRequest(params);
    await this.#record(call);
    if (ruleFor(this.#spec, kind)) return { outcome: answerPermission(this.#spec, kind, options) };
    const title = typeof call.title === 'string' ? call.title : 'The agent asks for permission';
    const { optionId } = await this.#ask({
      ...{ kind: 'permission', title: cutText(title, sessionLimits.textBytes) },
      ...{ options: options.map(({ optionId: id, name, kind: effect }) => ({ id, name, kind: effect })) },
      ...(typeof call.toolCallId === 'string' ? { toolCallId: clip(call.toolCallId, maxId) } : {}),
    });
    return { outcome: optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } };
  }

  async #form({ mode, message, requestedSchema, toolCallId }: Json): Promise<unknown> {
    const { value: schema, isCut } = bound(requestedSchema, sessionLimits.textBytes);
    if (mode !== 'form' || isCut || typeof schema !== 'object' || schema === null) return { action: 'decline' };
    const { content } = await this.#ask({
      ...{ kind: 'question', title: cutText(String(message), sessionLimits.textBytes), schema: schema as Json },
      ...(typeof toolCallId === 'string' ? { toolCallId: clip(toolCallId, maxId) } : {}),
    });
    return content === undefined ? { action: 'cancel' } : { action: 'accept', content };
  }

  #ask(question: Omit<Question, 'pendingId'>) {
    eventData.question({ pendingId: 'x', ...question }, []);
    return this.#recorder.ask(question);
  }

  /** Records the tool call that the agent sends with its request. */
  async #record(call: Json): Promise<void> {
    const { type, data } = eventOf({ ...call, sessionUpdate: 'tool_call_update' });
    if (type === 'tool') await this.#recorder.record(type, data);
  }
}
