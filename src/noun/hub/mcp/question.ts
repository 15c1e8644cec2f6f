/**
 * Questions of a tool to the person at the client, by elicitation. A question ends the call of the tool with an input-required result;
 * the answer comes with the next call of the same tool. For clients of 2025 the MCP package sends the question and calls the tool again.
 */
import { randomBytes } from 'node:crypto';
import type {
  ClientCapabilities,
  InputRequiredResult,
  McpServer,
  RequestStateCodec,
  ServerContext,
} from '@modelcontextprotocol/server';
import type { ClientQuestion, Consent, ToolCall } from '../hub.ts';

/** Thrown by `ask` if the person has not answered yet. */
export class AnswerPending extends Error {
  readonly question: ClientQuestion;

  constructor(question: ClientQuestion) {
    super('the person has not answered yet');
    this.question = question;
  }
}

interface State {
  readonly about: string;
}

/** How long a person may take to answer. */
const answerSeconds = 3600;
const consent = 'consent';
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';
const key = randomBytes(32);

/**
 * The client keeps the state of a question. The state is signed, so that only answers to questions of the hub are
 * valid.
 */
async function codec(): Promise<RequestStateCodec<State>> {
  const { createRequestStateCodec } = await import('@modelcontextprotocol/server');
  return createRequestStateCodec<State>({ key, ttlSeconds: answerSeconds });
}

/** Passed to the MCP server in its options. */
export async function verifyState(state: string, context: ServerContext): Promise<unknown> {
  return (await codec()).verify(state, context);
}

export function askOf(server: McpServer, { mcpReq }: ServerContext): ToolCall['ask'] {
  const envelope = mcpReq.envelope as { readonly [capabilitiesKey]?: ClientCapabilities } | undefined;
  const declared = envelope?.[capabilitiesKey];
  const { elicitation } = declared ?? server.server.getClientCapabilities() ?? {};
  if (elicitation === undefined || (elicitation.url && !elicitation.form)) return null;
  return async (question) => {
    const response = mcpReq.inputResponses?.[consent];
    const { about } = mcpReq.requestState<State>() ?? {};
    if (about !== question.about || response === undefined) throw new AnswerPending(question);
    return consentIn(response, question);
  };
}

export async function requiredFor({ message, about, tick }: ClientQuestion): Promise<InputRequiredResult> {
  const { inputRequired } = await import('@modelcontextprotocol/server');
  const properties = tick === null ? {} : { allow: { type: 'boolean' as const, title: tick, default: false } };
  const requestedSchema = { type: 'object' as const, properties, required: Object.keys(properties) };
  return inputRequired({
    inputRequests: { [consent]: inputRequired.elicit({ message, requestedSchema }) },
    requestState: await (await codec()).mint({ about }),
  });
}

/** `response` comes from the client, so only the expected shape counts as consent. */
function consentIn(response: unknown, { tick }: ClientQuestion): Consent {
  const { action, content } = response as {
    readonly action?: unknown;
    readonly content?: { readonly allow?: unknown };
  };
  if (action === 'accept') return tick === null || content?.allow === true ? 'accepted' : 'declined';
  return action === 'decline' ? 'declined' : 'dismissed';
}
