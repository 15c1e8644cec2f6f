/** The two keys that leave a terminal inside to itself: Ctrl-P Ctrl-Q, as in Docker. */
import { Transform, type TransformCallback } from 'node:stream';

const first = 0x10;
const second = 0x11;
/** How long the first key waits for the second; alone it is passed on then, so that it still recalls a line. */
const waitMs = 500;

/** Passes all other keys on at once. After the second of the two nothing follows. */
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

  /** The first key, if it was waiting. */
  #taken(): Buffer {
    if (this.#waiting === null) return Buffer.alloc(0);
    clearTimeout(this.#waiting);
    this.#waiting = null;
    return Buffer.of(first);
  }
}
