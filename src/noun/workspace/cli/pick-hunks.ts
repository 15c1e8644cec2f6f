/** Asks about the hunks of changes, one by one. */

import { DiffText } from '../../../client/output/diff-text.ts';
import type { Output } from '../../../client/output/output.ts';
import { edited } from '../../../client/stream/editor.ts';
import { writeAndDrain } from '../../../client/stream/receive.ts';
import { TypedLines } from '../../../client/stream/typed-lines.ts';
import { asFault } from '../../../model/fault.ts';
import type { ApplyRequest, OfferView } from '../api.ts';
import { type Hunk, hunkText } from '../model/patch-section.ts';
import { editedLines, editText } from './edit-text.ts';
import { FileChoice, type Next } from './hunk-choice.ts';

type Picks = NonNullable<ApplyRequest['pick']>;

/** Resolves to the chosen hunks; the end of input counts as `q`. */
export async function pickHunks({ files, others }: OfferView, out: Output): Promise<Picks> {
  for (const line of others) out.say(`not offered, apply it by its path: ${line}`);
  const lines = new TypedLines();
  const choices: FileChoice[] = [];
  try {
    for (const file of files) {
      const choice = new FileChoice(file);
      choices.push(choice);
      await show(choice.head, out);
      if (!(await askAll(choice, lines, out))) break;
    }
  } finally {
    lines.close();
  }
  return choices.flatMap(({ pick }) => (pick === null ? [] : [pick]));
}

/** Asks about all hunks of a file; false: the user quit. */
async function askAll(choice: FileChoice, lines: TypedLines, out: Output): Promise<boolean> {
  for (;;) {
    if (choice.question.hunk !== null) await show(hunkText(choice.question.hunk), out);
    const next = await answered(choice, lines, out);
    if (next.do === 'done' || next.do === 'quit') return next.do === 'done';
  }
}

async function answered(choice: FileChoice, lines: TypedLines, out: Output): Promise<Next> {
  const typed = await lines.ask(out.paint('bold', choice.prompt));
  const next = choice.answer(typed ?? 'q');
  if (next.do === 'say') process.stderr.write(`${next.text}\n`);
  return next.do === 'edit' ? edit(choice, next.hunk, lines, out) : next;
}

const again = 'Your edited hunk does not apply. Edit again (saying "no" discards!) [y/n]? ';

/** Lets the user edit a hunk. It stays undecided if the editor fails or the user removes all lines. */
async function edit(choice: FileChoice, hunk: Hunk, lines: TypedLines, out: Output): Promise<Next> {
  let text: string | undefined;
  do {
    text = await fromEditor(editText(hunk, text), lines, out);
    const next = text === '' ? ({ do: 'ask' } as const) : choice.edit(text);
    if (next !== null) return next;
  } while (await isWanted(lines));
  return { do: 'ask' };
}

async function fromEditor(text: string, lines: TypedLines, out: Output): Promise<string> {
  try {
    return editedLines(await lines.whilePaused(() => edited('hunk-edit.diff', text)));
  } catch (error) {
    const fault = asFault(error);
    if (fault.code === 'cancelled') throw fault;
    out.fail(fault);
    return '';
  }
}

async function isWanted(lines: TypedLines): Promise<boolean> {
  for (;;) {
    const answer = await lines.ask(again);
    if (answer === null || /^\s*n/i.test(answer)) return false;
    if (/^\s*y/i.test(answer)) return true;
  }
}

async function show(text: string, out: Output): Promise<void> {
  const shown = new DiffText(out.colourful);
  await writeAndDrain(out.stdout, Buffer.from(shown.take(Buffer.from(text, 'latin1')) + shown.end()));
}
