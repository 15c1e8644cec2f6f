/**
 * Copies a tree: files with their holes, folders, links, and their modes, owners and times. Others may be changing the
 * source meanwhile; it is walked by open folders, so nothing leads out of it. Entries that vanish meanwhile are left
 * out, and so are FIFOs, sockets and devices. Hard links stay hard links. Blocks are shared if the filesystem can.
 * Blocks the thread it runs in.
 */
import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  symlinkSync,
} from 'node:fs';
import type { Anchor } from '../../../lib/file/anchor.ts';
import { isErrno } from '../../../lib/file/file.ts';
import type { Stat } from '../../../lib/sys/stat.ts';
import { nextData, setTimes } from '../../../lib/sys/sys.ts';
import { type BytePath, toBytes, toText } from '../../../model/byte-path.ts';
import { Fault, isFault, spaceHint } from '../../../model/fault.ts';
import { type FilePart, openRegular, readChunk, using, writeFully } from './content.ts';
import { pathOf } from './folders.ts';
import { setMode, setOwner, withNewEntryOpen } from './open-entry.ts';
import { entryAt, look, typeOf } from './tree.ts';
import { TreeCursor } from './tree-cursor.ts';

/** An entry that differs at each attempt is changed on purpose. */
const maxTries = 100;

/** The target is an empty, private folder. */
export function copyAll(source: string, target: string): void {
  const [from, to] = openBoth(source, target);
  const copy = new TreeCopy(from, to, target);
  try {
    copy.run();
  } catch (error) {
    throw isFault(error) ? error : copyFault(error, `${source}/${toText(copy.path)}`);
  } finally {
    from.close();
    to.close();
  }
}

function openBoth(source: string, target: string): [TreeCursor, TreeCursor] {
  const to = new TreeCursor(target);
  try {
    return [new TreeCursor(source), to];
  } catch (error) {
    to.close();
    if (!['ENOENT', 'ENOTDIR', 'ELOOP'].some((code) => isErrno(error, code))) throw copyFault(error, source);
    throw new Fault('invalid', `${source} is not a folder, or its path goes through a link`, { cause: error });
  }
}

/** A folder that is being copied. */
interface Frame {
  readonly name: BytePath;
  readonly stat: Stat;
  readonly names: readonly BytePath[];
  next: number;
}

class TreeCopy {
  readonly #from: TreeCursor;
  readonly #to: TreeCursor;
  readonly #device: bigint;
  readonly #stack: Frame[];
  readonly #target: string;
  /** Files that have other names, by inode number. */
  readonly #copied = new Map<bigint, BytePath>();
  #sharesBlocks = true;

  constructor(from: TreeCursor, to: TreeCursor, target: string) {
    this.#from = from;
    this.#to = to;
    this.#target = target;
    const stat = fstatSync(from.here!.fd, { bigint: true });
    this.#device = stat.dev;
    this.#stack = [{ name: '', stat, names: from.here!.list(), next: 0 }];
  }

  /** The path that is being copied. */
  get path(): BytePath {
    const folders = this.#stack.slice(1).map(({ name }) => name);
    const top = this.#stack.at(-1);
    return [...folders, top?.names[top.next - 1] ?? ''].join('/');
  }

  run(): void {
    for (let top = this.#stack.at(-1); top !== undefined; top = this.#stack.at(-1)) {
      const name = top.names[top.next++];
      if (name === undefined) this.#leave(top);
      else this.#copy(name);
    }
  }

  /** A folder gets its mode last, since the mode may forbid writing. */
  #leave({ stat }: Frame): void {
    setMetadata(this.#to.here!.fd, stat);
    this.#stack.pop();
    if (this.#stack.length === 0) return;
    this.#from.up();
    this.#to.up();
  }

  #copy(name: BytePath): void {
    for (let tries = 0; tries < maxTries; tries += 1) {
      const folder = this.#from.here;
      if (folder === null) throw this.#changing();
      const stat = look(folder, name);
      if (stat === null || this.#copyAs(typeOf(stat), name, folder, stat)) return;
    }
    throw this.#changing();
  }

  /** False: it is of another type by now. */
  #copyAs(type: ReturnType<typeof typeOf>, name: BytePath, folder: Anchor, stat: Stat): boolean {
    if (type === 'folder') return this.#enter(name);
    if (type === 'link') return this.#copyLink(name, folder, stat);
    return type !== 'file' || (using(openRegular(folder, name), (part) => this.#copyFile(name, part)) ?? false);
  }

  /** Of another filesystem only the mount point is copied. */
  #enter(name: BytePath): boolean {
    if (!this.#from.down(name)) return false;
    const folder = this.#from.here!;
    const stat = fstatSync(folder.fd, { bigint: true });
    const names = stat.dev === this.#device ? folder.list() : [];
    mkdirSync(pathOf(this.#locate(name)), 0o700);
    if (!this.#to.down(name)) throw new Fault('internal', 'a folder that was just made is gone');
    this.#stack.push({ name, stat, names, next: 0 });
    return true;
  }

  #copyLink(name: BytePath, folder: Anchor, stat: Stat): boolean {
    const entry = entryAt(folder, name, stat);
    if (entry === null) return false;
    symlinkSync(Buffer.from(entry.target!, 'latin1'), pathOf(this.#locate(name)));
    withNewEntryOpen(this.#locate(name), 'link', (fd) => setMetadata(fd, stat));
    return true;
  }

  #copyFile(name: BytePath, part: FilePart): true {
    const stat = fstatSync(part.fd, { bigint: true });
    if (stat.nlink > 1n && this.#isLinked(name, stat)) return true;
    if (this.#share(name, part)) {
      withNewEntryOpen(this.#locate(name), 'file', (fd) => setMetadata(fd, stat));
      return true;
    }
    const fd = openSync(pathOf(this.#locate(name)), constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      copyData(part, fd);
      setMetadata(fd, stat);
    } finally {
      closeSync(fd);
    }
    return true;
  }

  /** Links it to a copy made before; false: there is none, or it cannot have another name. */
  #isLinked(name: BytePath, { ino, dev }: Stat): boolean {
    const first = dev === this.#device ? this.#copied.get(ino) : undefined;
    this.#copied.set(ino, first ?? this.path);
    if (first === undefined) return false;
    try {
      linkSync(Buffer.concat([Buffer.from(`${this.#target}/`), toBytes(first)]), pathOf(this.#locate(name)));
      return true;
    } catch (error) {
      if (!['EMLINK', 'ENAMETOOLONG', 'EPERM'].some((code) => isErrno(error, code))) throw error;
      return false;
    }
  }

  /**
   * Shares all blocks or copies nothing: without sharing, Node's `copyFile` never returns if the file shrinks
   * meanwhile.
   */
  #share(name: BytePath, { fd }: FilePart): boolean {
    if (!this.#sharesBlocks) return false;
    try {
      const flags = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE;
      copyFileSync(`/proc/self/fd/${fd}`, pathOf(this.#locate(name)), flags);
      return true;
    } catch (error) {
      if (!cannotShare.some((code) => isErrno(error, code))) throw error;
      this.#sharesBlocks = false;
      return false;
    }
  }

  #changing(): Fault {
    return new Fault('conflict', `${toText(this.path)} is being changed all the time, so it cannot be copied`, {
      hint: 'Stop what works on it, and try again.',
    });
  }

  #locate(name: BytePath) {
    return { folder: this.#to.here!, name };
  }
}

const cannotShare = ['EOPNOTSUPP', 'ENOTSUP', 'ENOTTY', 'ENOSYS', 'EXDEV', 'EINVAL'];

const chunk = Buffer.alloc(1024 * 1024);

/**
 * Copies a file with the length that it had when it was opened, and with its holes; what was cut off since is a hole
 * too.
 */
function copyData(part: FilePart, toFd: number): void {
  const { lengthBytes } = part;
  for (let at = nextData(part.fd, 0); at !== null && at.start < lengthBytes; at = nextData(part.fd, at.end)) {
    const { start } = at;
    const extent = { ...part, offset: start, lengthBytes: Math.min(at.end, lengthBytes) - start };
    for (let done = 0, bytes = 1; bytes > 0; done += bytes) {
      bytes = readChunk(extent, done, chunk);
      writeFully(toFd, chunk.subarray(0, bytes), start + done);
    }
  }
  ftruncateSync(toFd, lengthBytes);
}

function setMetadata(fd: number, stat: Stat): void {
  setOwner(fd, { uid: Number(stat.uid), gid: Number(stat.gid) });
  if (!stat.isSymbolicLink()) setMode(fd, Number(stat.mode & 0o7777n));
  setTimes(fd, stat.atimeMs * 1_000_000n, stat.mtimeNs);
}

function copyFault(error: unknown, path: string): Fault {
  const words = `cannot copy ${path.replace(/\/$/, '')}`;
  const { message } = error as Error;
  if (['ENOSPC', 'EDQUOT'].some((code) => isErrno(error, code)))
    return new Fault('exhausted', `${words}: no space left`, { cause: error, hint: spaceHint });
  if (['EACCES', 'EPERM'].some((code) => isErrno(error, code)))
    return new Fault('denied', `${words}: it may not be read`, { cause: error });
  return new Fault('internal', `${words}: ${message}`, { cause: error });
}
