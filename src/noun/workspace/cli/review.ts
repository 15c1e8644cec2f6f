/**
 * Shows the reviewer what an agent wrote. A pipe or a file gets the bytes unchanged; on a terminal the text is escaped
 * and paged.
 */

import { DiffText } from '../../../client/output/diff-text.ts';
import type { Output } from '../../../client/output/output.ts';
import { openScreen, type TextScreen } from '../../../client/output/pager.ts';
import { during } from '../../../client/output/progress.ts';
import { deliver, writeAndDrain } from '../../../client/stream/receive.ts';
import type { Sinks } from '../../../client/stream/stream.ts';
import type { Frame } from '../../../lib/wire/stream.ts';

export type Ask = (signal?: AbortSignal) => AsyncIterable<Frame>;

export interface ReviewResult {
  readonly empty: boolean;
  readonly exitCode: number;
}

/** Shows lines that are already safe for a terminal. */
export async function showLines(lines: readonly string[], out: Output): Promise<number> {
  if (out.columns === null) {
    out.print(...lines);
    return 0;
  }
  const screen = openScreen(() => {});
  await writeAndDrain(screen.sink, Buffer.from(`${lines.join('\n')}\n`));
  return screen.close();
}

/** Shows unified diffs and patches. Messages of the daemon are printed at the end. */
export async function review(ask: Ask, out: Output, doing: string): Promise<ReviewResult> {
  const remarks: Buffer[] = [];
  const show = out.columns === null ? pipeThrough : showOnScreen;
  const reviewed = await show(
    (signal) => awaited(ask(signal), out, doing),
    out,
    (chunk) => void remarks.push(chunk),
  );
  for (const line of Buffer.concat(remarks).toString('utf8').split('\n')) if (line !== '') out.say(line);
  return reviewed;
}

/** Collects the whole output in memory. */
export async function collect(ask: Ask): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await deliver(ask(), { stdout: (chunk) => void chunks.push(chunk), stderr: () => {} });
  return Buffer.concat(chunks);
}

async function pipeThrough(ask: Ask, out: Output, stderr: Sinks['stderr']): Promise<ReviewResult> {
  let empty = true;
  const stdout = (chunk: Buffer) => {
    empty = false;
    return writeAndDrain(out.stdout, chunk);
  };
  await deliver(ask(), { stdout, stderr });
  return { empty, exitCode: 0 };
}

async function showOnScreen(ask: Ask, out: Output, stderr: Sinks['stderr']): Promise<ReviewResult> {
  const leaving = new AbortController();
  const text = new DiffText(out.colourful);
  let screen: TextScreen | null = null;
  let exitCode = 0;
  // The pager is started with the first output, so that it does not start for an error or an empty diff.
  const show = async (more: string) => {
    if (more === '') return;
    screen ??= openScreen(() => leaving.abort());
    await writeAndDrain(screen.sink, Buffer.from(more));
  };
  try {
    await deliver(ask(leaving.signal), { stdout: (chunk) => show(text.take(chunk)), stderr });
    await show(text.end());
  } catch (error) {
    // An aborted signal means that the user quit the pager.
    if (!leaving.signal.aborted) throw error;
  } finally {
    exitCode = (await (screen as TextScreen | null)?.close()) ?? 0;
  }
  return { empty: screen === null, exitCode };
}

/** Passes the frames on; a terminal shows progress until the first frame arrives. */
async function* awaited(frames: AsyncIterable<Frame>, out: Output, doing: string): AsyncGenerator<Frame> {
  const iterator = frames[Symbol.asyncIterator]();
  const first = await during(out, doing, iterator.next());
  if (first.done) return;
  yield first.value;
  yield* { [Symbol.asyncIterator]: () => iterator };
}
