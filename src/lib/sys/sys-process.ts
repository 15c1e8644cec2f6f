/** System calls for a process and its namespaces, like those in sys.ts. */
import { closeSync, openSync } from 'node:fs';
import { checked, errno, libc, SysError } from './libc.ts';

const c = {
  ioctl: libc('int ioctl(int fd, unsigned long request)'),
  fcntl: libc('int fcntl(int fd, int command, int value)'),
  execvp: libc('int execvp(const char *file, const char **argv)'),
};

const NS_GET_PARENT = 0xb702;

/** An open descriptor of the parent of the user namespace that a process is in. */
export function parentUserNamespace(pid: number): number {
  const own = openSync(`/proc/${pid}/ns/user`, 'r');
  try {
    return checked('ioctl NS_GET_PARENT', c.ioctl(own, NS_GET_PARENT));
  } finally {
    closeSync(own);
  }
}

/** Does not return: replaces this process by that program, with the standard streams and these descriptors. */
export function becomeProgram(argv: readonly string[], descriptors: readonly number[]): never {
  const F_SETFD = 2;
  // Node marks all inherited descriptors close-on-exec.
  for (const fd of [0, 1, 2, ...descriptors]) checked('fcntl', c.fcntl(fd, F_SETFD, 0));
  c.execvp(argv[0], [...argv, null]);
  throw new SysError(`exec ${argv[0]}`, errno());
}
