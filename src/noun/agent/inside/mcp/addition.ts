/**
 * Entries that Carrel adds to a settings file, recorded so that it can change or remove them later. It touches only
 * entries that are still as it added them: what an agent or a person wrote or changed stays.
 */

import { editedJsonc, parseJsonc } from '../../../../lib/text/jsonc.ts';
import { tomlTable, withoutTomlTable, withTomlTable } from '../../../../lib/text/toml-table.ts';
import type { ChangedConfig, ConfigAddition } from './mcp.ts';

/** Returns the text with the wanted entries, without those that were added before and are no longer wanted. */
export function withAdditions(
  text: string,
  before: readonly ConfigAddition[],
  wanted: readonly ConfigAddition[],
): ChangedConfig {
  const keys = new Set(wanted.map(keyOf));
  let result = text;
  for (const one of before) if (!keys.has(keyOf(one)) && isUnchanged(result, one)) result = removed(result, one);
  const added: ConfigAddition[] = [];
  for (const one of wanted) {
    const earlier = before.find((other) => keyOf(other) === keyOf(one));
    const isFree = !isThere(result, one);
    if (!isFree && (earlier === undefined || !isUnchanged(result, earlier))) continue;
    if (isFree || !isUnchanged(result, one)) result = put(result, one);
    added.push(one);
  }
  return { text: result, added };
}

/** A file has at most one addition per key. */
function keyOf({ kind, path, value }: ConfigAddition): string {
  return JSON.stringify([kind, path, kind === 'item' ? value : null]);
}

function isThere(text: string, one: ConfigAddition): boolean {
  if (one.kind === 'table') return tomlTable(text, one.path.join('.')) !== null;
  const found = valueAt(text, one.path);
  return one.kind === 'item' ? Array.isArray(found) && found.includes(one.value) : found !== undefined;
}

function isUnchanged(text: string, one: ConfigAddition): boolean {
  if (one.kind === 'item') return isThere(text, one);
  if (one.kind === 'table') return tomlTable(text, one.path.join('.')) === one.value;
  return JSON.stringify(valueAt(text, one.path)) === JSON.stringify(one.value);
}

function put(text: string, one: ConfigAddition): string {
  if (one.kind === 'table') return withTomlTable(text, one.path.join('.'), one.value);
  if (one.kind === 'value') return editedJsonc(text, [...one.path], one.value);
  const found = valueAt(text, one.path);
  if (found === undefined) return editedJsonc(text, [...one.path], [one.value]);
  return Array.isArray(found) ? editedJsonc(text, [...one.path, -1], one.value) : text;
}

function removed(text: string, one: ConfigAddition): string {
  if (one.kind === 'table') return withoutTomlTable(text, one.path.join('.'));
  if (one.kind === 'value') return editedJsonc(text, [...one.path], undefined);
  const at = (valueAt(text, one.path) as unknown[]).indexOf(one.value);
  return editedJsonc(text, [...one.path, at], undefined);
}

function valueAt(text: string, path: readonly string[]): unknown {
  let value: unknown = parseJsonc(text);
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
