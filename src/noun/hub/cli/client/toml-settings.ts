/** The entry for the hub in settings of TOML: a table of its own. */
import { tomlTable, withTomlTable } from '../../../../lib/text/toml-table.ts';
import type { ServerEntry } from './server-entry.ts';

const table = 'mcp_servers.carrel';

export function tomlEntry({ command, args, env = {} }: ServerEntry): string {
  const variables = Object.entries(env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  return [
    `[${table}]`,
    `command = ${JSON.stringify(command)}`,
    `args = [${args.map((arg) => JSON.stringify(arg)).join(', ')}]`,
    ...(variables.length > 0 ? [`env = { ${variables.join(', ')} }`] : []),
    '',
  ].join('\n');
}

/** `text` is empty if there is no file yet. */
export function withTomlEntry(text: string, entry: ServerEntry): string {
  return withTomlTable(text, table, tomlEntry(entry));
}

export function tomlHolds(text: string): boolean {
  return tomlTable(text, table) !== null;
}
