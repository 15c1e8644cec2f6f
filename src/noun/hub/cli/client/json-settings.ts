/** The entry for the hub in settings of JSON, with comments. Comments and all other values stay. */
import { editedJsonc, parseJsonc } from '../../../../lib/text/jsonc.ts';
import { Fault } from '../../../../model/fault.ts';

/** `text` is empty if there is no file yet. */
export function withJsonEntry(text: string, key: string, entry: object): string {
  const servers = parseJsonc(text)[key];
  if (servers !== undefined && (typeof servers !== 'object' || servers === null || Array.isArray(servers)))
    throw new Fault('invalid', `${key} is not an object`);
  return editedJsonc(text, [key, 'carrel'], entry);
}

export function jsonHolds(text: string, key: string): boolean {
  try {
    return (parseJsonc(text)[key] as Record<string, unknown> | undefined)?.carrel !== undefined;
  } catch {
    return false;
  }
}
