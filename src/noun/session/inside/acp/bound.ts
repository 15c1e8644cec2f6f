/** Copies of JSON values with a maximal size: long text is cut, and entries that do not fit are left out. */
const maxDepth = 50;

export interface Bounded {
  readonly value: unknown;
  readonly isCut: boolean;
}

export function bound(value: unknown, maxBytes: number): Bounded {
  const walk = new Walk(maxBytes);
  return { value: walk.copy(value, 0), isCut: walk.isCut };
}

/** Cuts text to whole characters of at most `maxBytes` bytes. */
export function cutText(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text.slice(0, maxBytes));
  let end = Math.min(maxBytes, bytes.length);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

class Walk {
  isCut = false;
  #left: number;

  constructor(maxBytes: number) {
    this.#left = maxBytes;
  }

  copy(value: unknown, depth: number): unknown {
    this.#left -= 8;
    if (typeof value === 'string') return this.#text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= maxDepth) {
      this.isCut = true;
      return null;
    }
    return Array.isArray(value) ? this.#list(value, depth) : this.#object(value, depth);
  }

  #text(text: string): string {
    const kept = cutText(text, Math.max(0, this.#left));
    if (kept.length < text.length) this.isCut = true;
    this.#left -= Buffer.byteLength(kept);
    return kept;
  }

  #list(list: readonly unknown[], depth: number): unknown[] {
    const copy: unknown[] = [];
    for (const one of list) {
      if (this.#isFull()) break;
      copy.push(this.copy(one, depth + 1));
    }
    return copy;
  }

  #object(object: object, depth: number): object {
    const copy: [string, unknown][] = [];
    for (const [name, value] of Object.entries(object)) {
      if (this.#isFull()) break;
      this.#left -= name.length;
      copy.push([name, this.copy(value, depth + 1)]);
    }
    return Object.fromEntries(copy);
  }

  #isFull(): boolean {
    if (this.#left > 0) return false;
    this.isCut = true;
    return true;
  }
}
