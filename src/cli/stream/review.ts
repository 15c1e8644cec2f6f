/**
 * Shows what an agent wrote to the reviewer: the bytes as they are into a pipe or a file, made harmless and
 * paged on a terminal.
 */
import type { Frame } from '../../api/stream.ts';
import { DiffText } from '../output/diff-text.ts';
import type { Output } from '../output/output.ts';
import { openScreen, type Screen } from '../output/pager.ts';
import { during } from '../output/progress.ts';
import { deliver, pour, type Sinks } from './receive.ts';

export type Ask = (signal?: AbortSignal) => AsyncIterable<Frame>;

export interface Reviewed {
  readonly empty: boolean;
  readonly exitCode: number;
}

/** Lines that are harmless already. */
export async function showLines(lines: readonly string[], out: Output): Promise<number> {
  if (out.columns === null) {
    out.print(...lines);
    return 0;
  }
  const screen = openScreen(() => {});
  await pour(screen.sink, Buffer.from(`${lines.join('\n')}\n`));
  return screen.close();
}

/** Unified diffs and patches. Messages of the daemon follow at the end. */
export async function review(ask: Ask, out: Output, doing: string): Promise<Reviewed> {
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

/** All of it, in memory. */
export async function collect(ask: Ask): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await deliver(ask(), { stdout: (chunk) => void chunks.push(chunk), stderr: () => {} });
  return Buffer.concat(chunks);
}

async function pipeThrough(ask: Ask, out: Output, stderr: Sinks['stderr']): Promise<Reviewed> {
  let empty = true;
  const stdout = (chunk: Buffer) => {
    empty = false;
    return pour(out.stdout, chunk);
  };
  await deliver(ask(), { stdout, stderr });
  return { empty, exitCode: 0 };
}

async function showOnScreen(ask: Ask, out: Output, stderr: Sinks['stderr']): Promise<Reviewed> {
  const leaving = new AbortController();
  const text = new DiffText(out.colourful);
  let screen: Screen | null = null;
  let exitCode = 0;
  // Opened late, so that a refusal and an empty diff are no business of the pager.
  const show = async (more: string) => {
    if (more === '') return;
    screen ??= openScreen(() => leaving.abort());
    await pour(screen.sink, Buffer.from(more));
  };
  try {
    await deliver(ask(leaving.signal), { stdout: (chunk) => show(text.take(chunk)), stderr });
    await show(text.end());
  } catch (error) {
    // The reader quit the pager.
    if (!leaving.signal.aborted) throw error;
  } finally {
    exitCode = (await (screen as Screen | null)?.close()) ?? 0;
  }
  return { empty: screen === null, exitCode };
}

/** The frames; a terminal shows progress until the first one arrives. */
async function* awaited(frames: AsyncIterable<Frame>, out: Output, doing: string): AsyncGenerator<Frame> {
  const iterator = frames[Symbol.asyncIterator]();
  const first = await during(out, doing, iterator.next());
  if (first.done) return;
  yield first.value;
  yield* { [Symbol.asyncIterator]: () => iterator };
}
