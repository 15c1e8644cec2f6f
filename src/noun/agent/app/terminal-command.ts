/** The command of a sandbox for an agent's terminal program: its options and settings, with the values of variables filled in. */
import { terminalAgentPath } from '../model/agent.ts';
import type { SettingsFile, TerminalSpec } from '../model/table.ts';

type Variables = Readonly<Record<string, string>>;

/** `{NAME}`, or `{NAME:-20}` for the last 20 characters. */
const reference = /\{([A-Z_][A-Z0-9_]*)(?::-(\d+))?\}/g;

export function terminalCommand(
  { command, options = [], files = [] }: TerminalSpec,
  program: string,
  args: readonly string[],
  variables: Variables,
): string[] {
  const filled = options.map((group) => group.map((word) => fill(word, variables)));
  const known = filled.filter((group): group is string[] => group.every((word) => word !== null)).flat();
  const settings = JSON.stringify({ files: files.map((file) => filledFile(file, variables)) });
  return [terminalAgentPath, settings, program, ...command.slice(1), ...known, ...args];
}

function filledFile({ path, set = {}, defaults = {} }: SettingsFile, variables: Variables): Required<SettingsFile> {
  return { path, set: filled(set, variables) as object, defaults: filled(defaults, variables) as object };
}

/** Leaves out values that name a variable that is not set. */
function filled(value: unknown, variables: Variables): unknown {
  if (typeof value === 'string') return fill(value, variables) ?? undefined;
  if (Array.isArray(value)) return value.map((one) => filled(one, variables)).filter((one) => one !== undefined);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one, variables)]));
}

/** Null: a variable is not set. */
function fill(text: string, variables: Variables): string | null {
  const names = [...text.matchAll(reference)].map(([, name]) => name!);
  if (names.some((name) => variables[name] === undefined)) return null;
  return text.replaceAll(reference, (_, name: string, last?: string) =>
    variables[name]!.slice(last === undefined ? 0 : -Number(last)),
  );
}
