/**
 * Output of a command that is shown while it runs: the beginning in full, then a short piece each second, so that a client sees
 * that the command works. A command may write faster than any client reads.
 */
const fullLength = 1024 * 1024;
const pieceLength = 1000;
const pauseMs = 1000;

export class OutputLimit {
  readonly #nowMs: () => number;
  #length = 0;
  #shownAtMs = Number.NEGATIVE_INFINITY;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** The part of the text to show; null: nothing. */
  take(text: string): string | null {
    this.#length += text.length;
    if (this.#length <= fullLength) return text;
    const nowMs = this.#nowMs();
    if (nowMs - this.#shownAtMs < pauseMs) return null;
    this.#shownAtMs = nowMs;
    return text.slice(-pieceLength);
  }
}
