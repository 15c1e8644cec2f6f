import { Fault } from './fault.ts';
import { printable } from './name.ts';

const second = 1000;
const units: Readonly<Record<string, number>> = {
  s: second,
  m: 60 * second,
  h: 3600 * second,
  d: 86_400 * second,
  w: 7 * 86_400 * second,
};

/** A hundred years: a longer time is a typing error. */
const maxDurationMs = 36_500 * 86_400 * second;

/** "90s", "12h", "7d" → milliseconds. Exactly one positive number and one unit. */
export function parseDuration(text: string, what: string): number {
  const match = /^([1-9]\d{0,8})([smhdw])$/.exec(text);
  const ms = match ? Number(match[1]) * units[match[2]!]! : Number.NaN;
  if (ms <= maxDurationMs) return ms;
  throw new Fault('invalid', `${what}: ${printable(text)} is not a time span`, {
    hint: 'Give a whole number and a unit: s, m, h, d or w, such as 12h or 7d.',
  });
}
