/**
 * Agents: the programs that do the work inside a sandbox, and the settings by which the adapter there drives one.
 *
 * The adapter gets the settings as one argument of its command, so no process inside can change them. They never
 * contain a key: they name a secret, which is a file inside, and the variable in which an agent expects the key.
 */
import {
  list,
  object,
  oneOf,
  plainObject,
  record,
  type Shape,
  type Shaped,
  ShapeError,
  text,
  whole,
} from '../../../model/shape.ts';

const toolKinds = [
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'switch_mode',
  'other',
] as const;
export type ToolKind = (typeof toolKinds)[number];

const argument = text({ max: 131_072, pattern: /^[^\0]*$/, says: 'text without a zero byte' });
const command: Shape<readonly string[]> = (value, path) => {
  const words = list(argument, 1000)(value, path);
  if (!words[0]) throw new ShapeError(path, 'must name a program');
  return words;
};
const variable = text({ max: 200, pattern: /^[A-Z_][A-Z0-9_]*$/, says: 'the name of a variable: A-Z, 0-9 and "_"' });
/** The name of a variable and of a secret. */
const login = text({ max: 64, pattern: /^[A-Z][A-Z0-9_]*$/, says: 'a name of A-Z, 0-9 and "_" after a letter' });
const secret = text({ max: 64, pattern: /^[A-Za-z0-9][A-Za-z0-9_.-]*$/, says: 'the name of a secret' });

/**
 * The agent reads its key from `variable`: the value of the secret, or the value that the sandbox has in `variable` or in
 * `elsewhere`. Without a key it uses the token of an account, if there is one: the secret or the variable named `login`.
 */
const key = object({ variable, secret }, { elsewhere: variable, login });

/** Secrets of the services that the agent can use: it gets those that exist, and needs at least one. */
const anyKey = list(secret, 20);

/** The token of a Claude account. The Claude Code CLI reads it from a variable of this name, and from no other. */
export const claudeLogin = 'CLAUDE_CODE_OAUTH_TOKEN';

const claudeKey = object({ variable, secret }, { elsewhere: variable, login: oneOf(claudeLogin) });
const claude = object({ kind: oneOf('claude'), command }, { key: claudeKey, anyKey });
const acp = object(
  { kind: oneOf('acp'), command },
  {
    key,
    anyKey,
    /** The authentication method for an agent that requires one; without it, the first method that takes a key. */
    authenticate: text({ min: 1, max: 200 }),
    /** Answers to permission requests, by the kind of tool; others are allowed, because the sandbox is the boundary. */
    permissions: record(
      { pattern: new RegExp(`^(${toolKinds.join('|')})$`), says: `a kind of tool: ${toolKinds.join(', ')}` },
      oneOf('allow', 'reject'),
      toolKinds.length,
    ),
  },
);
const plain = object(
  { kind: oneOf('command'), command },
  {
    key,
    anyKey,
    /** The input of the command: the story as JSON, or the story in words. */
    input: oneOf('json', 'prompt'),
  },
);

const kinds = { claude, acp, command: plain } as const;

export type ClaudeSpec = Shaped<typeof claude>;
export type AcpSpec = Shaped<typeof acp>;
export type CommandSpec = Shaped<typeof plain>;
export type AgentSpec = ClaudeSpec | AcpSpec | CommandSpec;
export type AgentKey = Shaped<typeof key>;

/** The keys that an agent can use, the preferred one first: its key, and the token of an account instead of it. */
export function keysOf(key: AgentKey): readonly Omit<AgentKey, 'login'>[] {
  return [key, ...(key.login === undefined ? [] : [{ variable: key.login, secret: key.login }])];
}

export const agentSpec: Shape<AgentSpec> = (value, path) => {
  const kind = oneOf('claude', 'acp', 'command')(plainObject(value, path).kind, [...path, 'kind']);
  return kinds[kind](value, path);
};

const oneLine = text({ min: 1, max: 200, pattern: /^[^\x00-\x1f\x7f<>]*$/, says: 'one line without < and >' });

const settings = object(
  { agent: agentSpec },
  {
    /** The name of the agent. */
    name: oneLine,
    /** The author of the commits, which name the agent too; absent: the agent is the author. */
    author: object({ name: oneLine, email: oneLine }),
    /** A story fails when it takes longer than `storySeconds`, or when its agent is silent for `stallSeconds`. */
    storySeconds: whole(1, 604_800),
    stallSeconds: whole(1, 604_800),
    /** The service that the agent needs: HOST:PORT, and the variable whose base URL takes precedence. */
    service: object({ place: text({ min: 1, max: 300 }), base: variable }),
  },
);

export type AdapterSettings = Shaped<typeof settings>;

export function checkAdapterSettings(value: unknown): AdapterSettings {
  return settings(value, []);
}

export const adapterPath = '/opt/carrel/bin/carrel-adapter';

/** Prepares the settings of an agent's terminal program and becomes that program: SETTINGS PROGRAM ARGS… */
export const terminalAgentPath = '/opt/carrel/bin/carrel-agent';

/** The settings that were prepared last in this sandbox. */
export const preparedSettings = '/.data/agent-settings.json';

/** The named volume with the programs that `carrel agent install` installed, and its path in sandboxes. */
export const installVolume = 'agents';
export const installFolder = '/opt/agents';

/**
 * The path inside of a program of this machine that is not below /usr, or of its folder. npm packages find each other
 * by the folder's name.
 */
export function programMount(source: string): string {
  return source.endsWith('/node_modules') ? '/opt/agent/node_modules' : '/opt/agent';
}

/** The command of a sandbox in which an agent works on a task file. */
export function adapterCommand(settings: AdapterSettings): readonly string[] {
  return [adapterPath, JSON.stringify(checkAdapterSettings(settings))];
}

/**
 * The folder of the adapter's record: below `/.data` inside, and below the folder of the host that is mounted there.
 */
export const adapterDataFolder = 'carrel';
export const outcomeFile = 'outcome.json';

/** The label of sandboxes that were created for sessions: the agent of the first one. */
export const sessionAgentLabel = 'session-agent';

/** The label of sandboxes that were created for the terminal program of an agent. */
export const terminalAgentLabel = 'terminal-agent';
