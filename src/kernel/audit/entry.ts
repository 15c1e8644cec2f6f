/** Encodes an entry as one line, and decodes it. */
import type { AuditEntry } from './audit.ts';

const maxText = 256;
const maxItems = 64;

export function encodeLine(value: object): string {
  return `${JSON.stringify(bounded(value)).replace(/[^\x20-\x7e]/g, escaped)}\n`;
}

/** Null: not an entry, or a part of one. */
export function decodeLine<T = AuditEntry>(line: Buffer | string): T | null {
  try {
    const value: unknown = JSON.parse(line.toString());
    return typeof value === 'object' && value !== null && 'id' in value ? (value as T) : null;
  } catch {
    return null;
  }
}

/** Bounds the length of a line: names and paths come from users. */
function bounded(value: unknown): unknown {
  if (typeof value === 'string') return value.length > maxText ? `${value.slice(0, maxText)}…` : value;
  if (Array.isArray(value)) {
    const items = value.slice(0, maxItems).map(bounded);
    return value.length > maxItems ? [...items, `… and ${value.length - maxItems} more`] : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, bounded(item)]));
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
