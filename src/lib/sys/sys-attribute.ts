/** System calls for extended attributes of open files, like those in sys.ts. */
import { constants as os } from 'node:os';
import { checked, errno, libc, SysError } from './libc.ts';

const c = {
  fgetxattr: libc('long fgetxattr(int fd, const char *name, _Out_ void *value, size_t size)'),
  fsetxattr: libc('int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags)'),
  fremovexattr: libc('int fremovexattr(int fd, const char *name)'),
};

const maxBytes = 64 * 1024;
const none: readonly number[] = [os.errno.ENODATA, os.errno.EOPNOTSUPP];

/** Null: the file has no such attribute, or its filesystem supports none. */
export function readAttribute(fd: number, name: string): Buffer | null {
  const value = Buffer.alloc(maxBytes);
  const bytes = Number(c.fgetxattr(fd, name, value, value.length));
  if (bytes >= 0) return value.subarray(0, bytes);
  const found = errno();
  if (none.includes(found)) return null;
  throw new SysError(`getxattr ${name}`, found);
}

export function writeAttribute(fd: number, name: string, value: Uint8Array): void {
  checked(`setxattr ${name}`, c.fsetxattr(fd, name, value, value.length, 0));
}

/** An absent attribute is no error. */
export function removeAttribute(fd: number, name: string): void {
  const done = c.fremovexattr(fd, name);
  const found = done === 0 ? 0 : errno();
  if (found !== 0 && !none.includes(found)) throw new SysError(`removexattr ${name}`, found);
}
