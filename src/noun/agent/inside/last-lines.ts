/** The last lines of an output, within a maximal length. */
import { clip } from '../../../model/shape.ts';
import { maxOutput } from '../../swarm/model/message.ts';

/** At most this many lines of a batch can be kept, because each has at least its line break. */
export const maxLines = maxOutput;

export class LastLines {
  readonly #max: number;
  #lines: string[] = [];
  #length = 0;

  constructor(max = maxOutput) {
    this.#max = max;
  }

  add(...lines: readonly string[]): void {
    for (const line of lines) {
      const kept = clip(line, this.#max);
      this.#lines.push(kept);
      this.#length += kept.length + 1;
    }
    let first = 0;
    while (this.#length > this.#max && first < this.#lines.length - 1) this.#length -= this.#lines[first++]!.length + 1;
    this.#lines = this.#lines.slice(first);
  }

  toString(): string {
    return clip(this.#lines.join('\n').trim(), this.#max);
  }
}
