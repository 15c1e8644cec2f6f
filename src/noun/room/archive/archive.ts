/**
 * Messages that retention moved out of the database: JSON lines in one compressed file a month, by the time in their
 * ids, so that the files are in the order of the room. Each move appends a gzip member. The database records the length
 * of the file before the move, so that a move that a crash interrupted can be undone.
 */
import {
  closeSync,
  constants,
  createReadStream,
  fsyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip, gzipSync } from 'node:zlib';
import { syncFolder } from '../../../lib/file/file.ts';
import { ulidTime } from '../../../model/ulid.ts';
import type { RoomMessage } from '../model/room.ts';

const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;
const filePattern = /^\d{4}-\d{2}\.jsonl\.gz$/;

/** An archive file and its length before a move. */
export interface BeforeMove {
  readonly file: string;
  readonly bytes: number;
}

export class RoomArchive {
  readonly #folder: string;

  constructor(room: string) {
    this.#folder = join(room, 'archive');
  }

  fileFor(id: string): string {
    return `${new Date(ulidTime(id)).toISOString().slice(0, 7)}.jsonl.gz`;
  }

  before(file: string): BeforeMove {
    return { file, bytes: statSync(join(this.#folder, file), { throwIfNoEntry: false })?.size ?? 0 };
  }

  takeBack({ file, bytes }: BeforeMove): void {
    if (this.before(file).bytes <= bytes) return;
    this.#using(file, (fd) => ftruncateSync(fd, bytes));
  }

  /** Durable when it returns. */
  append({ file, bytes }: BeforeMove, messages: readonly RoomMessage[]): void {
    const member = gzipSync(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
    this.#using(file, (fd) => {
      for (let done = 0; done < member.length; ) {
        done += writeSync(fd, member, done, member.length - done, bytes + done);
      }
    });
    syncFolder(this.#folder);
  }

  #using(file: string, work: (fd: number) => void): void {
    const fd = openSync(join(this.#folder, file), O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
    try {
      work(fd);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  }

  /** All messages after an id, oldest first. */
  async *after(id: string | null): AsyncGenerator<RoomMessage> {
    const first = id === null ? '' : this.fileFor(id);
    for (const file of this.#files().filter((name) => name >= first)) {
      for await (const message of this.#read(file)) if (message.id > (id ?? '')) yield message;
    }
  }

  async get(id: string): Promise<RoomMessage | null> {
    const file = this.fileFor(id);
    if (!this.#files().includes(file)) return null;
    for await (const message of this.#read(file)) if (message.id === id) return message;
    return null;
  }

  /** Newest first. */
  async search(matches: (message: RoomMessage) => boolean, limit: number): Promise<RoomMessage[]> {
    const found: RoomMessage[] = [];
    for (const file of this.#files().reverse()) {
      const inFile: RoomMessage[] = [];
      for await (const message of this.#read(file)) if (matches(message)) inFile.push(message);
      found.push(...inFile.reverse());
      if (found.length >= limit) break;
    }
    return found.slice(0, limit);
  }

  #files(): string[] {
    return readdirSync(this.#folder)
      .filter((name) => filePattern.test(name))
      .sort();
  }

  async *#read(file: string): AsyncGenerator<RoomMessage> {
    const input = createReadStream(join(this.#folder, file));
    const text = input.pipe(createGunzip());
    input.on('error', (error) => text.destroy(error));
    try {
      for await (const line of createInterface({ input: text })) yield JSON.parse(line) as RoomMessage;
    } finally {
      input.destroy();
    }
  }
}

/** Matches as the search of the database does: all words must occur, the last one as a prefix. */
export function wordMatcher(text: string): (message: RoomMessage) => boolean {
  const split = (from: string) => from.toLowerCase().split(/[^\p{L}\p{N}\p{M}]+/u);
  const words = split(text).filter((word) => word !== '');
  const last = words.pop();
  if (last === undefined) return () => false;
  return ({ body }) => {
    const there = split(body);
    return words.every((word) => there.includes(word)) && there.some((word) => word.startsWith(last));
  };
}
