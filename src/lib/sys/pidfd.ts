/**
 * Processes held by descriptors of the kernel (pidfds): one call tells whether all of them are alive, and no later
 * process with the same pid is mistaken for one of them.
 */
import { closeSync } from 'node:fs';
import { isAlive, type ProcessRef } from '../process/process.ts';
import { libc } from './libc.ts';

const c = {
  pidfdOpen: libc('long syscall(long number, int pid, uint32_t flags)'),
  poll: libc('int poll(void *descriptors, unsigned long count, int timeoutMs)'),
};

const SYS_pidfd_open = 434;
const POLLIN = 1;
/** struct pollfd. */
const pollBytes = 8;

export class HeldProcesses {
  readonly #fds: readonly number[];
  readonly #polled: Buffer;

  private constructor(fds: readonly number[]) {
    this.#fds = fds;
    this.#polled = Buffer.alloc(fds.length * pollBytes);
    for (const [index, fd] of fds.entries()) {
      this.#polled.writeInt32LE(fd, index * pollBytes);
      this.#polled.writeInt16LE(POLLIN, index * pollBytes + 4);
    }
  }

  /** Null: one of them has ended, or the kernel has no such descriptors. */
  static open(refs: readonly ProcessRef[]): HeldProcesses | null {
    const fds = refs.map(({ pid }) => Number(c.pidfdOpen(SYS_pidfd_open, pid, 0))).filter((fd) => fd >= 0);
    const held = new HeldProcesses(fds);
    // A pid belongs to one process as long as that is alive: each process is checked after its descriptor is open, and
    // must be alive after the check.
    if (fds.length === refs.length && refs.every(isAlive) && held.live()) return held;
    held.close();
    return null;
  }

  /** Whether every one of the processes is alive, with at least one thread. */
  live(): boolean {
    return c.poll(this.#polled, this.#fds.length, 0) === 0;
  }

  close(): void {
    for (const fd of this.#fds) closeSync(fd);
  }
}
