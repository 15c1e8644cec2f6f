/** Parses the text of options into values. A text that cannot be parsed is a Fault that names the option. */
import { Fault, isFault } from '../model/fault.ts';
import { printable } from '../model/name.ts';

/** Runs a check of the model; if it throws a Fault, the Fault names the option. */
export function naming<T>(option: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!isFault(error, 'invalid')) throw error;
    throw new Fault('invalid', `${option}: ${error.message}`, {
      cause: error,
      ...(error.hint ? { hint: error.hint } : {}),
    });
  }
}

/** Parses repeated `K=V` into a record. The value may contain `=`. */
export function parsePairs(texts: readonly string[], option: string): Record<string, string> {
  const pairs = new Map<string, string>();
  for (const text of texts) {
    const at = text.indexOf('=');
    if (at < 1) {
      throw new Fault('invalid', `${option}: ${printable(text)} is not KEY=VALUE`, {
        hint: `Write ${option} KEY=VALUE; an empty value is ${option} KEY=`,
      });
    }
    pairs.set(text.slice(0, at), text.slice(at + 1));
  }
  return Object.fromEntries(pairs);
}

export function parseNumber(text: string, option: string): number {
  if (/^\d{1,12}(\.\d{1,6})?$/.test(text)) return Number(text);
  throw new Fault('invalid', `${option}: ${printable(text)} is not a number`, {
    hint: 'Give digits, such as 2 or 0.5.',
  });
}

export function parseCount(text: string, option: string, least = 0): number {
  if (/^\d{1,15}$/.test(text) && Number(text) >= least) return Number(text);
  const from = least === 0 ? '' : ` of at least ${least}`;
  throw new Fault('invalid', `${option}: ${printable(text)} is not a whole number${from}`, {
    hint: 'Give digits, such as 10.',
  });
}

/** Parses seconds, also fractions, into milliseconds. */
export function parseSeconds(text: string, option: string): number {
  return Math.round(parseNumber(text, option) * 1000);
}
