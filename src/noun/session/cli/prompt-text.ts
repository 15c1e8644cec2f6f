/** The text of a prompt: the words of the command line, or stdin. */

import { stdinText } from '../../../client/stdin-text.ts';
import { Fault } from '../../../model/fault.ts';
import { sessionLimits } from '../model/session.ts';

export async function promptText(words: readonly string[]): Promise<string> {
  const text = words.length === 1 && words[0] === '-' ? await promptOnStdin() : words.join(' ');
  if (text.trim() === '')
    throw new Fault('invalid', 'the prompt is empty', { hint: 'Write what the agent should do.' });
  return text;
}

/** Reads one byte more than allowed, so that the daemon refuses a text that is too long. */
export async function promptOnStdin(): Promise<string> {
  return (await stdinText(sessionLimits.promptBytes + 1)).trimEnd();
}
