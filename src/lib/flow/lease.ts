/** Whether a file is open for writing, in this process or any other one: the kernel grants a read lease only if it is not. */
import { constants as os } from 'node:os';
import { errno, libc } from '../sys/libc.ts';

const fcntl = libc('int fcntl(int fd, int command, int value)');

const F_SETSIG = 10;
const F_SETLEASE = 1024;
const F_RDLCK = 0;
const F_UNLCK = 2;

/** Null: the kernel does not answer for this file, because of its owner or its filesystem. */
export function isOpenForWriting(fd: number): boolean | null {
  // A writer that opens the file in this moment breaks the lease, and by default the kernel sends SIGIO, which ends a process.
  fcntl(fd, F_SETSIG, os.signals.SIGURG);
  if (fcntl(fd, F_SETLEASE, F_RDLCK) === 0) {
    fcntl(fd, F_SETLEASE, F_UNLCK);
    return false;
  }
  return errno() === os.errno.EAGAIN ? true : null;
}
