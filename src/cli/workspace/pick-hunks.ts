/** Asks about the hunks of changes, one by one. */
import { createInterface } from 'node:readline';
import type { ApplyRequest, OfferView } from '../../api/workspace.ts';
import { hunkText } from '../../model/patch-section.ts';
import { DiffText } from '../output/diff-text.ts';
import type { Output } from '../output/output.ts';
import { pour } from '../stream/receive.ts';
import { FileChoice } from './hunk-choice.ts';

type Picks = NonNullable<ApplyRequest['pick']>;

/** What was taken; the end of input is `q`. */
export async function pickHunks({ files, others }: OfferView, out: Output): Promise<Picks> {
  for (const line of others) out.say(`not offered, apply it by its path: ${line}`);
  // Without a terminal of its own, so that Ctrl-C stays a signal.
  const input = createInterface({ input: process.stdin, terminal: false });
  const lines = input[Symbol.asyncIterator]();
  const choices: FileChoice[] = [];
  try {
    for (const file of files) {
      const choice = new FileChoice(file);
      choices.push(choice);
      await show(choice.head, out);
      if (!(await askAll(choice, lines, out))) break;
    }
  } finally {
    input.close();
  }
  return choices.flatMap(({ pick }) => (pick === null ? [] : [pick]));
}

/** False: no more questions. */
async function askAll(choice: FileChoice, lines: AsyncIterator<string>, out: Output): Promise<boolean> {
  for (;;) {
    if (choice.question.hunk !== null) await show(hunkText(choice.question.hunk), out);
    const next = await answered(choice, lines, out);
    if (next === 'done' || next === 'quit') return next === 'done';
  }
}

async function answered(choice: FileChoice, lines: AsyncIterator<string>, out: Output): Promise<string> {
  process.stderr.write(out.paint('bold', choice.prompt));
  const { done, value } = await lines.next();
  if (done) process.stderr.write('\n');
  const next = choice.answer(done ? 'q' : value);
  if (next.do === 'say') process.stderr.write(`${next.text}\n`);
  return next.do;
}

async function show(text: string, out: Output): Promise<void> {
  const shown = new DiffText(out.colourful);
  await pour(out.stdout, Buffer.from(shown.take(Buffer.from(text, 'latin1')) + shown.end()));
}
