import { Fault } from './fault.ts';
import { printable } from './name.ts';

const units: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

/** "512m", "4g", "1048576" → bytes. */
export function parseSize(text: string, what: string): number {
  const match = /^(\d{1,12}(?:\.\d{1,3})?)([kmgt]?)(?:i?b)?$/i.exec(text.trim());
  const unit = match && units[match[2]!.toLowerCase()];
  if (!match || !unit) {
    throw new Fault('invalid', `${what}: ${printable(text)} is not a size`, {
      hint: 'Give a number with an optional unit, such as 512m or 4g.',
    });
  }
  const bytes = Math.round(Number(match[1]) * unit);
  if (Number.isSafeInteger(bytes)) return bytes;
  throw new Fault('invalid', `${what}: ${printable(text)} is more than there can be`, {
    hint: 'Give less, such as 4g.',
  });
}

/** Bytes → "3.4M": at most four characters and a unit, for tables. */
export function formatSize(bytes: number): string {
  let value = bytes;
  let at = 0;
  for (; Math.round(value) >= 1024; at += 1) value /= 1024;
  return `${at > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)}${'BKMGTP'[at]}`;
}
