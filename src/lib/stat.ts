/** The result of Node's lstat for one name in an open folder, in a third of the time for many names. */
import { type BigIntStats, constants } from 'node:fs';
import { type FolderEntry, statAt, statBytes } from './sys.ts';

export type Stat = Pick<
  BigIntStats,
  | 'isFile'
  | 'isDirectory'
  | 'isSymbolicLink'
  | 'isFIFO'
  | 'isSocket'
  | 'isCharacterDevice'
  | 'dev'
  | 'ino'
  | 'mode'
  | 'nlink'
  | 'rdev'
  | 'size'
  | 'uid'
  | 'gid'
  | 'atimeMs'
  | 'mtimeMs'
  | 'mtimeNs'
  | 'ctimeNs'
  | 'birthtimeNs'
>;

/** Offsets in struct statx, the same on every architecture. */
const offset = {
  nlink: 16,
  uid: 20,
  gid: 24,
  mode: 28,
  ino: 32,
  size: 40,
  atime: 64,
  btime: 80,
  ctime: 96,
  mtime: 112,
  rdev: 128,
  dev: 136,
};
const usedBytes = 144;
const result = Buffer.alloc(statBytes);

export function statIn(place: FolderEntry): Stat | null {
  return statAt(place, result) ? new StatxStat(Buffer.from(result.subarray(0, usedBytes))) : null;
}

class StatxStat implements Stat {
  readonly #bytes: Buffer;
  readonly #type: number;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#type = bytes.readUInt16LE(offset.mode) & constants.S_IFMT;
  }

  isFile(): boolean {
    return this.#type === constants.S_IFREG;
  }
  isDirectory(): boolean {
    return this.#type === constants.S_IFDIR;
  }
  isSymbolicLink(): boolean {
    return this.#type === constants.S_IFLNK;
  }
  isFIFO(): boolean {
    return this.#type === constants.S_IFIFO;
  }
  isSocket(): boolean {
    return this.#type === constants.S_IFSOCK;
  }
  isCharacterDevice(): boolean {
    return this.#type === constants.S_IFCHR;
  }

  get mode(): bigint {
    return BigInt(this.#bytes.readUInt16LE(offset.mode));
  }
  get nlink(): bigint {
    return BigInt(this.#bytes.readUInt32LE(offset.nlink));
  }
  get uid(): bigint {
    return BigInt(this.#bytes.readUInt32LE(offset.uid));
  }
  get gid(): bigint {
    return BigInt(this.#bytes.readUInt32LE(offset.gid));
  }
  get ino(): bigint {
    return this.#bytes.readBigUInt64LE(offset.ino);
  }
  get size(): bigint {
    return this.#bytes.readBigUInt64LE(offset.size);
  }
  get dev(): bigint {
    return this.#device(offset.dev);
  }
  get rdev(): bigint {
    return this.#device(offset.rdev);
  }
  get atimeMs(): bigint {
    return this.#time(offset.atime) / 1_000_000n;
  }
  get mtimeMs(): bigint {
    return this.mtimeNs / 1_000_000n;
  }
  get mtimeNs(): bigint {
    return this.#time(offset.mtime);
  }
  get ctimeNs(): bigint {
    return this.#time(offset.ctime);
  }
  get birthtimeNs(): bigint {
    return this.#time(offset.btime);
  }

  #time(at: number): bigint {
    return this.#bytes.readBigInt64LE(at) * 1_000_000_000n + BigInt(this.#bytes.readUInt32LE(at + 8));
  }

  /** Combines the two numbers of a device as libc does. */
  #device(at: number): bigint {
    const [major, minor] = [BigInt(this.#bytes.readUInt32LE(at)), BigInt(this.#bytes.readUInt32LE(at + 4))];
    const [highMajor, highMinor] = [(major & ~0xfffn) << 32n, (minor & ~0xffn) << 12n];
    return highMajor | ((major & 0xfffn) << 8n) | highMinor | (minor & 0xffn);
  }
}
