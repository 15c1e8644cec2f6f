import { isObject } from '../../../../model/object.ts';

/** Merges settings: objects are joined, lists get missing items, and single values come from `above`. */
export function mergeSettings(below: unknown, above: unknown): unknown {
  if (Array.isArray(below) && Array.isArray(above)) return [...new Set([...below, ...above])];
  if (!isObject(below) || !isObject(above)) return above === undefined ? below : above;
  const result: Record<string, unknown> = { ...below };
  for (const [name, value] of Object.entries(above)) result[name] = mergeSettings(result[name], value);
  return result;
}
