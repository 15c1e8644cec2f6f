/**
 * The messages between the daemon and the adapter inside a sandbox: NDJSON over stdio, the aimi protocol.
 *
 *   daemon → adapter   task-request       once, first
 *   adapter → daemon   progress-update    whenever a story's status changes, and now and then while one is worked on:
 *                                         an adapter that is silent for long counts as stuck
 *                      error              something that ends the work, or a part of it
 *                      completion         the last message; written to disk before it is sent
 *
 * Both sides check every message with `checkMessage`. A checked message is not trusted: a message of a sandbox says
 * what its adapter claims, and its ids are compared with those of the sandbox it came from.
 */
import {
  list,
  object,
  oneOf,
  orNull,
  plainObject,
  record,
  type Shape,
  type Shaped,
  ShapeError,
  text,
} from '../../../model/shape.ts';

export const storyStatuses = ['pending', 'in_progress', 'completed', 'failed', 'skipped'] as const;
export type StoryStatus = (typeof storyStatuses)[number];

const swarmErrorCodes = [
  'CONTAINER_OOM',
  'CONTAINER_TIMEOUT',
  'GIT_CLONE_FAILED',
  'GIT_CHECKOUT_FAILED',
  'TASK_FILE_NOT_FOUND',
  'TASK_FILE_INVALID',
  'ACP_CONNECTION_LOST',
  'AGENT_CRASH',
  'MISSING_ENV_VAR',
  'INVALID_INPUT',
  'UNKNOWN_ERROR',
] as const;
export type SwarmErrorCode = (typeof swarmErrorCodes)[number];

/**
 * Reasons for which the protocol has no code. On the wire they begin the message of the closest code, so that
 * programs that know only the list of codes understand it; people and the state of swarms get the reason.
 */
export const ownReasons = {
  AGENT_NOT_INSTALLED: 'AGENT_CRASH',
  SERVICE_UNREACHABLE: 'UNKNOWN_ERROR',
} as const satisfies Readonly<Record<string, SwarmErrorCode>>;
export type OwnReason = keyof typeof ownReasons;

const ownReasonPattern = new RegExp(`^(US-\\d{3}: )?(${Object.keys(ownReasons).join('|')}): (.*)$`, 's');

/** The text of an error for people: the reason first, then the story. */
export function errorText(code: SwarmErrorCode | null, message: string): string {
  const [, story = '', reason, rest] = ownReasonPattern.exec(message) ?? [];
  if (reason !== undefined) return `${reason}: ${story}${rest}`;
  return code === null ? message : `${code}: ${message}`;
}

export const maxOutput = 2000;
export const maxErrors = 50;
export const maxErrorText = 500;

export const storyIdPattern = /^US-\d{3}$/;
const swarmIdPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
export const containerIdPattern = /^[0-9a-f]{12,64}$/;

const storyIdRule = { pattern: storyIdPattern, says: 'the id of a story, such as US-001' };
export const storyId: Shape<string> = text(storyIdRule);
export const swarmId: Shape<string> = text({ pattern: swarmIdPattern, says: 'a UUID of version 4' });

/** A record of stories, by their ids. */
export function byStory<T>(shape: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return record(storyIdRule, shape, 1000);
}

export const maxBranchName = 200;
export const maxUrl = 2000;
/** Without empty parts, which git refuses. */
export const branchNamePattern = /^(?!.*\/(\/|$))[a-zA-Z0-9][a-zA-Z0-9/_-]*$/;
export const prUrlPattern = /^https:\/\/[^\s\x00-\x1f\x7f]+$/;

export const branchName: Shape<string> = text({
  max: maxBranchName,
  pattern: branchNamePattern,
  says: 'a branch name of letters, digits, "/", "_" and "-" that begins with a letter or digit',
});

const prUrl: Shape<string | null> = orNull(
  text({ max: maxUrl, pattern: prUrlPattern, says: 'an address that begins with https://' }),
);

const taskRequest = object(
  {
    taskFilePath: text({
      max: 4096,
      pattern: /^[^\x00-\x1f\x7f]*[^/\x00-\x1f\x7f]\.json$/,
      says: 'the path of a .json file',
    }),
    branchName,
  },
  {
    repoUrl: text({
      max: maxUrl,
      pattern: /^(https:\/\/|git@)[^\s\x00-\x1f\x7f]+$/,
      says: 'an address that begins with https:// or git@',
    }),
    envVars: record(
      { max: 200, pattern: /^[A-Z_][A-Z0-9_]*$/, says: 'the name of a variable: A-Z, 0-9 and "_"' },
      text({ max: 32_768, pattern: /^[^\0]*$/, says: 'text without a zero byte' }),
      200,
    ),
  },
);

const progressUpdate = object({
  storyId,
  status: oneOf(...storyStatuses),
  output: text({ max: maxOutput }),
});

export const completion = object({
  status: oneOf('completed', 'failed', 'stopped'),
  prUrl,
  errors: list(text({ max: maxErrorText }), maxErrors),
});

const error = object({ code: oneOf(...swarmErrorCodes), message: text({ max: maxOutput }) });

const payloads = {
  'task-request': taskRequest,
  'progress-update': progressUpdate,
  completion,
  error,
} as const;

export type MessageType = keyof typeof payloads;
export type TaskRequest = Shaped<typeof taskRequest>;
export type Completion = Shaped<typeof completion>;

interface Envelope<T extends MessageType> {
  readonly type: T;
  readonly timestamp: string;
  readonly swarmId: string;
  readonly containerId: string;
  readonly payload: Shaped<(typeof payloads)[T]>;
}

export type SwarmMessage = { [T in MessageType]: Envelope<T> }[MessageType];
export type MessageFromAdapter = Exclude<SwarmMessage, { type: 'task-request' }>;

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

const envelope = object({
  type: oneOf('task-request', 'progress-update', 'completion', 'error'),
  timestamp: text({ max: 40, pattern: isoTime, says: 'a time such as 2026-01-31T12:00:00Z' }),
  swarmId,
  containerId: text({ pattern: containerIdPattern, says: '12 to 64 hex digits' }),
  payload: plainObject,
});

/** The message in a parsed JSON value, or a ShapeError with the path of what is wrong. */
export function checkMessage(value: unknown): SwarmMessage {
  const outer = envelope(value, []);
  if (Number.isNaN(Date.parse(outer.timestamp))) throw new ShapeError(['timestamp'], 'is not a time that exists');
  return { ...outer, payload: payloads[outer.type](outer.payload, ['payload']) } as SwarmMessage;
}
