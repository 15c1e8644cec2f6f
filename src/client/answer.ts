/** For commands that make one request and print its answer. */
import type { Context } from './cli.ts';
import { during } from './output/progress.ts';

interface AnswerOptions {
  /** What the daemon does meanwhile, for the progress line. */
  readonly doing?: string | (() => string);
  /** The note that is printed if the answer is an empty list. */
  readonly empty?: string;
}

/**
 * Waits for the answer and prints it: with `--json` as a document, else as the lines that `text` makes of it. Resolves to
 * the answer, for notes and warnings, which `--json` silences.
 */
export async function printAnswer<T>(
  { json, out }: Context,
  answer: Promise<T>,
  text: (value: T) => string | readonly string[],
  { doing, empty }: AnswerOptions = {},
): Promise<T> {
  const value = await (doing === undefined ? answer : during(out, doing, answer));
  if (json) out.document(value);
  else if (empty !== undefined && Array.isArray(value) && value.length === 0) out.note(empty);
  else out.print(...[text(value)].flat());
  return value;
}
