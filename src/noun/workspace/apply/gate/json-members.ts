/**
 * JSON with all members in the order of the text. If a name occurs twice, some programs read the first member and
 * others the last, so a gate has to see both.
 */
import { type JsonNode, parseJsonText } from '../../model/json-text.ts';

export interface JsonObject {
  readonly members: readonly (readonly [name: string, value: JsonTree])[];
}
export type JsonTree = JsonObject | readonly JsonTree[] | string | number | boolean | null;

const maxDepth = 200;

/** Throws if the text is not JSON. `lenient` accepts comments and trailing commas, as several package managers do. */
export function parseMembers(text: string, { lenient = false } = {}): JsonTree {
  return treeOf(parseJsonText(text, { maxDepth, lenient, repeatedNames: true }));
}

function treeOf({ value, members, items }: JsonNode): JsonTree {
  if (Array.isArray(value)) return items.map(treeOf);
  if (typeof value !== 'object' || value === null) return value as JsonTree;
  return { members: members.map(({ name, node }) => [name, treeOf(node)]) };
}

export function isObject(value: JsonTree | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && 'members' in value;
}

/** All values with that name; none if `value` is not an object. */
export function valuesOf(value: JsonTree | undefined, name: string): JsonTree[] {
  return isObject(value) ? value.members.filter(([key]) => key === name).map(([, found]) => found) : [];
}
