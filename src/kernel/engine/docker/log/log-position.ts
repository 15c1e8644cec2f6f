/** The position of a reader in a log. Records have no number, but a time that is usually unique. */
import type { LogLine } from '../../engine.ts';

/** The streams are logged in parallel, so of two records the later one may have the earlier time. */
const marginSeconds = 1;

export class LogPosition {
  #last: Pick<LogLine, 'at' | 'stream'> | null = null;
  /** Records of the same stream and time that were passed: the pieces of a long line have one time. */
  #alike = 0;

  pass(record: LogLine): void {
    this.#alike = this.#isLike(record) ? this.#alike + 1 : 1;
    this.#last = record;
  }

  /** A time before the last record; null when no record was passed. */
  get since(): string | null {
    return this.#last && String(Math.floor(Date.parse(this.#last.at) / 1000) - marginSeconds);
  }

  /** The records after the last one. If the log no longer holds the last record, the records with later times. */
  async *after(records: AsyncIterable<LogLine>): AsyncGenerator<LogLine> {
    const later: LogLine[] = [];
    let alike = 0;
    for await (const record of records) {
      if (alike === this.#alike) yield record;
      else if (this.#isLike(record)) alike += 1;
      else if (record.at > this.#last!.at) later.push(record);
    }
    if (alike < this.#alike) yield* later;
  }

  #isLike({ at, stream }: LogLine): boolean {
    return this.#last?.at === at && this.#last.stream === stream;
  }
}
