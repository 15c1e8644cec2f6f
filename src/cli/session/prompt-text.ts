/** The text of a prompt: the words of the command line, or stdin. */
import { firstBytes } from '../../lib/collect.ts';
import { Fault } from '../../model/fault.ts';
import { sessionLimits } from '../../model/session.ts';

export async function promptText(words: readonly string[]): Promise<string> {
  const text = words.length === 1 && words[0] === '-' ? await stdinText() : words.join(' ');
  if (text.trim() === '')
    throw new Fault('invalid', 'the prompt is empty', { hint: 'Write what the agent should do.' });
  return text;
}

/** Reads one byte more than allowed, so that the daemon refuses a text that is too long. */
export async function stdinText(): Promise<string> {
  const bytes = await firstBytes(process.stdin, sessionLimits.promptBytes + 1);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).trimEnd();
  } catch (cause) {
    throw new Fault('invalid', 'the text on stdin is not UTF-8', { cause });
  }
}
