/**
 * Reports changes of names in watched folders: inotify with a mask of the caller's choice. Unlike `fs.watch`, it is not woken
 * by data that is written to files there, and it reports names of any bytes.
 */
import type { Socket } from 'node:net';
import { checked, libc } from '../sys/libc.ts';
import { asSocket } from '../sys/sys-socket.ts';

const c = {
  init: libc('int inotify_init1(int flags)'),
  add: libc('int inotify_add_watch(int fd, const char *path, uint32_t mask)'),
  remove: libc('int inotify_rm_watch(int fd, int watch)'),
};

const IN_NONBLOCK = 0o4000;
const IN_CLOEXEC = 0o2000000;
const IN_ONLYDIR = 0x01000000;
const IN_IGNORED = 0x8000;
const headBytes = 16;

export const folderEvents = { closedAfterWrite: 0x8, movedTo: 0x80, created: 0x100 } as const;

/** `name` is null if events were lost: anything may have happened in the folder. */
export type ChangeListener = (folder: string, name: Buffer | null) => void;

export class FolderWatch {
  readonly #socket: Socket;
  readonly #fd: number;
  readonly #mask: number;
  readonly #folders = new Map<number, string>();
  readonly #noticed: ChangeListener;

  /** Throws a SysError if the kernel's limit of watches is reached. */
  constructor(events: readonly (keyof typeof folderEvents)[], noticed: ChangeListener) {
    const { socket, fd } = asSocket(checked('inotify_init1', c.init(IN_NONBLOCK | IN_CLOEXEC)));
    this.#socket = socket;
    this.#fd = fd;
    this.#mask = events.reduce((mask, event) => mask | folderEvents[event], IN_ONLYDIR);
    this.#noticed = noticed;
    socket.on('data', (batch: Buffer) => this.#read(batch));
    socket.on('error', () => {});
    socket.resume().unref();
  }

  /** Watches the folder until it is removed. Idempotent. */
  add(folder: string): void {
    const watch = checked(`inotify_add_watch ${folder}`, c.add(this.#fd, folder, this.#mask));
    this.#folders.set(watch, folder);
  }

  remove(folder: string): void {
    for (const [watch, one] of this.#folders) if (one === folder) c.remove(this.#fd, watch);
  }

  /** A batch has whole events: `int watch; u32 mask, cookie, length; char name[length]`. */
  #read(batch: Buffer): void {
    for (let at = 0; at + headBytes <= batch.length; at += headBytes + batch.readUInt32LE(at + 12)) {
      const watch = batch.readInt32LE(at);
      const folder = this.#folders.get(watch);
      if ((batch.readUInt32LE(at + 4) & IN_IGNORED) !== 0) this.#folders.delete(watch);
      else if (folder !== undefined) this.#noticed(folder, nameIn(batch, at));
      // The event queue of the kernel overflowed.
      else if (watch < 0) for (const one of this.#folders.values()) this.#noticed(one, null);
    }
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** The kernel fills the name up with NUL bytes. */
function nameIn(batch: Buffer, at: number): Buffer {
  const start = at + headBytes;
  const padded = batch.subarray(start, start + batch.readUInt32LE(at + 12));
  const end = padded.indexOf(0);
  return Buffer.from(end < 0 ? padded : padded.subarray(0, end));
}
