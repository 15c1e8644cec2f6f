/** The two keys that detach from a terminal inside: Ctrl-P Ctrl-Q, as in Docker. */
import { Transform, type TransformCallback } from 'node:stream';

const first = 0x10;
const second = 0x11;
/** How long the first key is held back for the second. Then it is passed on, so that Ctrl-P still recalls a line. */
const waitMs = 500;

/** Passes all other keys on at once. After the two keys it passes on nothing. */
export class DetachKeys extends Transform {
  readonly #leave: () => void;
  #waiting: NodeJS.Timeout | null = null;

  constructor(leave: () => void) {
    super();
    this.#leave = leave;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const keys = Buffer.concat([this.#taken(), chunk]);
    const at = keys.indexOf(Buffer.of(first, second));
    const waits = at < 0 && keys.at(-1) === first;
    const end = at >= 0 ? at : keys.length - (waits ? 1 : 0);
    if (waits) this.#waiting = setTimeout(() => this.push(this.#taken()), waitMs);
    done(null, keys.subarray(0, end));
    if (at >= 0) this.#leave();
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#taken());
  }

  /** Returns the first key if it was held back. */
  #taken(): Buffer {
    if (this.#waiting === null) return Buffer.alloc(0);
    clearTimeout(this.#waiting);
    this.#waiting = null;
    return Buffer.of(first);
  }
}
