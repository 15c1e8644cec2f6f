/**
 * Cancels jobs in threads. The daemon sets the thread's flag; long loops check it and throw, so that everything they
 * hold open is closed on the way out. Outside of a thread there is no flag, and nothing is cancelled.
 */
import { Fault } from '../../model/fault.ts';

let flag: Int32Array | null = null;

export function setCancelFlag(shared: SharedArrayBuffer): void {
  flag = new Int32Array(shared);
}

export function isCancelled(): boolean {
  return flag !== null && Atomics.load(flag, 0) !== 0;
}

export function checkCancelled(): void {
  if (isCancelled()) throw cancelled();
}

const ends = new Set<() => void>();

/** Called when the job of this thread is cancelled while it waits for a program. */
export function onCancel(end: () => void): void {
  ends.add(end);
}

export function endWaits(): void {
  for (const end of ends) end();
}

export function cancelled(): Fault {
  return new Fault('cancelled', 'the work was cancelled');
}
