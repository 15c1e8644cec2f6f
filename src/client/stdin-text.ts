/** The text on stdin, at most this many bytes of it. */
import { firstBytes } from '../lib/process/collect.ts';
import { Fault } from '../model/fault.ts';

export async function stdinText(maxBytes: number, hint?: string): Promise<string> {
  const bytes = await firstBytes(process.stdin, maxBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new Fault('invalid', 'the text on stdin is not UTF-8', { cause, ...(hint === undefined ? {} : { hint }) });
  }
}
