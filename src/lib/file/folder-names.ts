/**
 * The names in an open folder, read by its descriptor. Node reads by paths only, and makes an object for every entry; a walk over
 * a project reads thousands of folders, of which few entries matter.
 */
import type { BytePath } from '../../model/byte-path.ts';
import { readEntries, rewind } from '../sys/sys.ts';

/** The numbers of the kernel; some filesystems report `unknown` for every entry. */
export const entryTypes = { unknown: 0, folder: 4, file: 8, link: 10 } as const;

export interface TypedName {
  readonly name: BytePath;
  readonly type: number;
}

/** Offsets in struct linux_dirent64. */
const offset = { length: 16, type: 18, name: 19 };
const buffer = Buffer.alloc(64 * 1024);

export function namesOf(fd: number): BytePath[] {
  const names: BytePath[] = [];
  scan(fd, (at) => names.push(nameAt(at)) > 0);
  return names;
}

/** The names of entries of the wanted types, at most `most` of them. */
export function typedNames(fd: number, wants: (type: number) => boolean, most = Number.POSITIVE_INFINITY): TypedName[] {
  const found: TypedName[] = [];
  scan(fd, (at) => {
    const type = buffer[at + offset.type]!;
    if (wants(type)) found.push({ name: nameAt(at), type });
    return found.length < most;
  });
  return found;
}

/** Calls `see` with the place of each entry in the buffer, except for `.` and `..`, until it returns false. */
function scan(fd: number, see: (at: number) => boolean): void {
  rewind(fd);
  for (let end = readEntries(fd, buffer); end > 0; end = readEntries(fd, buffer))
    for (let at = 0; at < end; at += buffer.readUInt16LE(at + offset.length)) if (!isDots(at) && !see(at)) return;
}

function isDots(at: number): boolean {
  const [first, second, third] = [at + offset.name, at + offset.name + 1, at + offset.name + 2];
  if (buffer[first] !== dot) return false;
  return buffer[second] === 0 || (buffer[second] === dot && buffer[third] === 0);
}

const dot = 0x2e;

function nameAt(at: number): BytePath {
  return buffer.toString('latin1', at + offset.name, buffer.indexOf(0, at + offset.name));
}
