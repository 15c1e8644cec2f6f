/**
 * Reports when a file is renamed to a name in a watched folder. Unlike `fs.watch`, it is not woken by data that is
 * written to files there.
 */
import type { Socket } from 'node:net';
import { checked, libc } from './libc.ts';
import { asSocket } from './sys.ts';

const c = {
  init: libc('int inotify_init1(int flags)'),
  add: libc('int inotify_add_watch(int fd, const char *path, uint32_t mask)'),
};

const IN_NONBLOCK = 0o4000;
const IN_CLOEXEC = 0o2000000;
const IN_MOVED_TO = 0x80;
const IN_ONLYDIR = 0x01000000;
const IN_IGNORED = 0x8000;
const headBytes = 16;

export class RenameWatch {
  readonly #socket: Socket;
  readonly #fd: number;
  readonly #folders = new Map<number, string>();
  readonly #noticed: (folder: string) => void;

  /** Throws a SysError if the kernel's limit of watches is reached. */
  constructor(noticed: (folder: string) => void) {
    const { socket, fd } = asSocket(checked('inotify_init1', c.init(IN_NONBLOCK | IN_CLOEXEC)));
    this.#socket = socket;
    this.#fd = fd;
    this.#noticed = noticed;
    socket.on('data', (events: Buffer) => this.#read(events));
    socket.on('error', () => {});
    socket.resume().unref();
  }

  /** Until the folder is removed. Repeat-safe. */
  add(folder: string): void {
    const watch = checked(`inotify_add_watch ${folder}`, c.add(this.#fd, folder, IN_MOVED_TO | IN_ONLYDIR));
    this.#folders.set(watch, folder);
  }

  /** Whole events: `int watch; u32 mask, cookie, length; char name[length]`. */
  #read(events: Buffer): void {
    for (let at = 0; at + headBytes <= events.length; at += headBytes + events.readUInt32LE(at + 12)) {
      const watch = events.readInt32LE(at);
      const folder = this.#folders.get(watch);
      if ((events.readUInt32LE(at + 4) & IN_IGNORED) !== 0) this.#folders.delete(watch);
      else if (folder !== undefined) this.#noticed(folder);
      // The event queue of the kernel overflowed.
      else if (watch < 0) for (const one of this.#folders.values()) this.#noticed(one);
    }
  }

  close(): void {
    this.#socket.destroy();
  }
}
