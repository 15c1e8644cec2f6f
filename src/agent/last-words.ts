/** The end of what somebody said: whole lines, as many as have room. */
import { clip } from '../model/shape.ts';
import { maxOutput } from '../model/swarm-message.ts';

export class LastWords {
  readonly #max: number;
  #lines: string[] = [];
  #length = 0;

  constructor(max = maxOutput) {
    this.#max = max;
  }

  add(line: string): void {
    const kept = clip(line, this.#max);
    this.#lines.push(kept);
    this.#length += kept.length + 1;
    while (this.#length > this.#max && this.#lines.length > 1) this.#length -= this.#lines.shift()!.length + 1;
  }

  toString(): string {
    return clip(this.#lines.join('\n').trim(), this.#max);
  }
}
