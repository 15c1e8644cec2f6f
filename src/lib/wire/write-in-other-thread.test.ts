import { closeSync, constants, openSync, readSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isErrno } from '../file/file.ts';
import { pipe } from '../sys/sys.ts';
import { writeInOtherThread } from './write-in-other-thread.ts';

it('the write begins although this thread does not return to its event loop', async () => {
  const [read, end] = pipe();
  const reader = openSync(`/proc/self/fd/${read}`, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const written = writeInOtherThread(`/proc/self/fd/${end}`, 'now');
    expect(readWithin(reader, 5000)).toBe('now');
    expect(await written).toBe(null);
  } finally {
    for (const fd of [reader, read, end]) closeSync(fd);
  }
});

it('writeInOtherThread resolves to the error if the file does not exist', async () => {
  expect(await writeInOtherThread('/proc/self/none', '0')).toMatchObject({ code: 'ENOENT' });
});

/** Reads without the event loop, and polls until the time is over. */
function readWithin(fd: number, ms: number): string | null {
  const bytes = Buffer.alloc(16);
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (const until = performance.now() + ms; performance.now() < until; Atomics.wait(clock, 0, 0, 1)) {
    try {
      return bytes.toString('utf8', 0, readSync(fd, bytes));
    } catch (error) {
      if (!isErrno(error, 'EAGAIN')) throw error;
    }
  }
  return null;
}
