/**
 * A daemon that was started before an update keeps running the old programs. Each command compares the build that the
 * daemon noted in its home with its own build. A newer command prints a warning, and at a terminal it offers a restart.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildNote, ownBuild } from '../../lib/file/package.ts';
import { type Build, olderThan } from '../../lib/flow/build-age.ts';
import { processRef } from '../../lib/process/process.ts';
import { Fault } from '../../model/fault.ts';
import type { Context } from '../cli.ts';
import { catchSignals } from '../signals.ts';
import { canAsk, confirm } from '../stream/confirm.ts';

/** A command that connects several times asks once. */
const offered = new WeakMap<Context, Promise<void>>();

/** `end` ends the daemon; the request that follows starts the next one. */
export function offerRestart(context: Context, end: () => Promise<void>): Promise<void> {
  const before = offered.get(context) ?? offer(context, end);
  offered.set(context, before);
  return before;
}

async function offer(context: Context, end: () => Promise<void>): Promise<void> {
  const text = olderText(context.home);
  if (text === null) return;
  if (!canAsk(context.out)) {
    return context.out.warn(`${text}; restart it with: carrel down. The next command starts it, and sandboxes go on`);
  }
  context.out.warn(text);
  const question = 'Restart it now? Sandboxes go on; other commands that wait for it or show output are cut off.';
  if (await context.out.withoutProgress(interruptible(confirm(question)))) await end();
}

/** The text that the daemon of this home is older than this command; null: it is not older, or no daemon runs. */
export function olderText(home: string, own = ownBuild()): string | null {
  const running = noteIn(home);
  if (own === null || running === null || processRef(running.pid) === null) return null;
  return olderThan(running, own);
}

function noteIn(home: string): (Build & { readonly pid: number }) | null {
  try {
    const note = JSON.parse(readFileSync(join(home, buildNote), 'utf8')) as Build & { readonly pid: number };
    const { pid, version, build, builtAt } = note;
    return pid > 0 && [version, build, builtAt].every((text) => typeof text === 'string') ? note : null;
  } catch {
    return null;
  }
}

/** Ctrl-C at the question ends the command. */
async function interruptible<T>(work: Promise<T>): Promise<T> {
  let release = () => {};
  const interrupted = new Promise<never>((_, reject) => {
    release = catchSignals(() => reject(new Fault('cancelled', 'interrupted')));
  });
  try {
    return await Promise.race([work, interrupted]);
  } finally {
    release();
  }
}
