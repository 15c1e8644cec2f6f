/** Adds the entry for the hub to the settings of a client. The file is replaced atomically; a backup of it is kept. */

import { mkdirSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { readIfThere, writeWhole } from '../../../../lib/file/file.ts';
import { editedJsonc, parseJsonc } from '../../../../lib/text/jsonc.ts';
import { tomlTable, withTomlTable } from '../../../../lib/text/toml-table.ts';
import { asFault, Fault } from '../../../../model/fault.ts';
import type { McpClient } from './client.ts';
import type { ServerEntry } from './server-entry.ts';

/** Appended to the name of the file for the backup. */
const backupSuffix = '.before-carrel';

/** The settings as text, for a user who adds them by hand. */
export function settingsText(client: McpClient, entry: ServerEntry): string {
  if (client.key === null) return tomlEntry(entry).trimEnd();
  return JSON.stringify({ [client.key]: { carrel: jsonEntry(client, entry) } }, null, 2);
}

function jsonEntry({ wantsType }: McpClient, entry: ServerEntry): object {
  return { ...(wantsType ? { type: 'stdio' } : {}), ...entry };
}

/** False also if the settings cannot be read. */
export function isInstalled({ file, key }: McpClient): boolean {
  try {
    const text = readIfThere(file) ?? '';
    return key === null ? tomlHolds(text) : jsonHolds(text, key);
  } catch {
    return false;
  }
}

export interface Installed {
  readonly file: string;
  readonly changed: boolean;
  /** The copy of the old file; null: there was no file, or nothing changed. */
  readonly backup: string | null;
}

export function install(client: McpClient, entry: ServerEntry): Installed {
  const { file, key } = client;
  const before = readIfThere(file);
  const after = naming(file, () => {
    const text = before ?? '';
    return key === null ? withTomlEntry(text, entry) : withJsonEntry(text, key, jsonEntry(client, entry));
  });
  if (after === before) return { file, changed: false, backup: null };
  mkdirSync(dirname(file), { recursive: true });
  // If the file is a symbolic link, its target is written and the link stays.
  const place = before === null ? file : realpathSync(file);
  const mode = before === null ? 0o600 : statSync(place).mode & 0o777;
  const backup = before === null ? null : `${place}${backupSuffix}`;
  if (backup !== null) writeWhole(backup, before!, mode);
  writeWhole(place, after, mode);
  return { file, changed: true, backup };
}

function naming<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code, message, hint } = asFault(error);
    throw new Fault(code, `${file}: ${message}`, {
      cause: error,
      hint: hint ?? 'Nothing was changed. Correct the file, or leave out --write and copy the settings.',
    });
  }
}

/** Comments and all other values stay. `text` is empty if there is no file yet. */
function withJsonEntry(text: string, key: string, entry: object): string {
  const servers = parseJsonc(text)[key];
  if (servers !== undefined && (typeof servers !== 'object' || servers === null || Array.isArray(servers)))
    throw new Fault('invalid', `${key} is not an object`);
  return editedJsonc(text, [key, 'carrel'], entry);
}

function jsonHolds(text: string, key: string): boolean {
  try {
    return (parseJsonc(text)[key] as Record<string, unknown> | undefined)?.carrel !== undefined;
  } catch {
    return false;
  }
}

/** In settings of TOML the entry is a table of its own. */
const table = 'mcp_servers.carrel';

function tomlEntry({ command, args, env = {} }: ServerEntry): string {
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
function withTomlEntry(text: string, entry: ServerEntry): string {
  return withTomlTable(text, table, tomlEntry(entry));
}

function tomlHolds(text: string): boolean {
  return tomlTable(text, table) !== null;
}
