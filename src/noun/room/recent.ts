/** The newest messages of a room, in memory, so that many followers cost one message from the thread. */
import type { RoomMessage } from './model/room.ts';

const maxMessages = 2000;
const maxLength = 8 * 1024 * 1024;

export class Recent {
  #messages: RoomMessage[] = [];
  #length = 0;
  /** The id of the last message before these; null: the room had no message before. */
  #before: string | null;
  #waiting = new Set<() => void>();
  #isClosed = false;
  #commits = 0;

  constructor(lastId: string | null) {
    this.#before = lastId;
  }

  /** Grows with every commit. */
  get commits(): number {
    return this.#commits;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The number of followers that wait for a commit. */
  get waits(): number {
    return this.#waiting.size;
  }

  push(messages: readonly RoomMessage[]): void {
    this.#commits += 1;
    this.#messages.push(...messages);
    for (const { body } of messages) this.#length += body.length;
    if (this.#messages.length > maxMessages || this.#length > maxLength) this.#drop();
    this.#wake();
  }

  /** Drops half of the messages, so that this is rarely needed. */
  #drop(): void {
    const dropped = this.#messages.splice(0, Math.ceil(this.#messages.length / 2));
    for (const { body } of dropped) this.#length -= body.length;
    this.#before = dropped.at(-1)!.id;
  }

  /** All messages after an id; null: some of them are not in memory. */
  after(id: string | null): readonly RoomMessage[] | null {
    if (this.#before !== null && (id === null || id < this.#before)) return null;
    if (id === null) return this.#messages.slice();
    let [low, high] = [0, this.#messages.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#messages[middle]!.id > id) high = middle;
      else low = middle + 1;
    }
    return this.#messages.slice(low);
  }

  /** Resolves at the next commit, at `close`, or when `signal` aborts. */
  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      if (signal.aborted || this.#isClosed) return resolve();
      signal.addEventListener('abort', done);
      this.#waiting.add(done);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const done of waiting) done();
  }
}
