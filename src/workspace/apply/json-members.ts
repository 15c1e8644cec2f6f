/**
 * JSON with every member that is written, in the order they are written. Of two members with one name some programs take
 * the first and others the last, so a judge of what programs will do has to see both. Throws on what is no JSON.
 */
export interface JsonObject {
  readonly members: readonly (readonly [name: string, value: JsonTree])[];
}
export type JsonTree = JsonObject | readonly JsonTree[] | string | number | boolean | null;

const maxDepth = 200;

/** `lenient`: comments and commas before a closing bracket are taken, as several package managers do. */
export function parseMembers(text: string, { lenient = false } = {}): JsonTree {
  const parser = new Parser(text, lenient);
  const value = parser.value(0);
  parser.end();
  return value;
}

export function isObject(value: JsonTree | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && 'members' in value;
}

/** All values of that name; none where it is no object. */
export function valuesOf(value: JsonTree | undefined, name: string): JsonTree[] {
  return isObject(value) ? value.members.filter(([key]) => key === name).map(([, found]) => found) : [];
}

class Parser {
  readonly #text: string;
  readonly #lenient: boolean;
  #at = 0;

  constructor(text: string, lenient: boolean) {
    this.#text = text;
    this.#lenient = lenient;
  }

  value(depth: number): JsonTree {
    if (depth > maxDepth) throw new SyntaxError('too deep');
    const next = this.#next();
    if (next === '{') return this.#object(depth);
    if (next === '[') return this.#array(depth);
    return next === '"' ? this.#string() : this.#word();
  }

  end(): void {
    if (this.#next() !== undefined) throw new SyntaxError('more than one value');
  }

  #object(depth: number): JsonObject {
    const members: [string, JsonTree][] = [];
    this.#list('}', () => {
      if (this.#next() !== '"') throw new SyntaxError('a name is missing');
      const name = this.#string();
      if (this.#next() !== ':') throw new SyntaxError('a colon is missing');
      this.#at += 1;
      members.push([name, this.value(depth + 1)]);
    });
    return { members };
  }

  #array(depth: number): JsonTree[] {
    const items: JsonTree[] = [];
    this.#list(']', () => items.push(this.value(depth + 1)));
    return items;
  }

  #list(close: string, item: () => void): void {
    this.#at += 1;
    for (let first = true; this.#next() !== close; first = false) {
      if (!first) this.#comma();
      if (!first && this.#lenient && this.#next() === close) break;
      item();
    }
    this.#at += 1;
  }

  #comma(): void {
    if (this.#next() !== ',') throw new SyntaxError('a comma is missing');
    this.#at += 1;
  }

  #string(): string {
    const start = this.#at;
    for (let at = start + 1; at < this.#text.length; at += 1) {
      if (this.#text[at] === '\\') at += 1;
      else if (this.#text[at] === '"') {
        this.#at = at + 1;
        return JSON.parse(this.#text.slice(start, this.#at)) as string;
      }
    }
    throw new SyntaxError('a string does not end');
  }

  #word(): number | boolean | null {
    const start = this.#at;
    while (/[\w.+-]/.test(this.#text[this.#at] ?? '')) this.#at += 1;
    return JSON.parse(this.#text.slice(start, this.#at)) as number | boolean | null;
  }

  #next(): string | undefined {
    while (' \t\r\n'.includes(this.#text[this.#at] ?? 'x') || (this.#lenient && this.#skipComment())) this.#at += 1;
    return this.#text[this.#at];
  }

  /** Leaves the place at the last character of the comment. */
  #skipComment(): boolean {
    const begins = this.#text.slice(this.#at, this.#at + 2);
    if (begins !== '//' && begins !== '/*') return false;
    const end = this.#text.indexOf(begins === '//' ? '\n' : '*/', this.#at + 2);
    this.#at = end < 0 ? this.#text.length : end + (begins === '//' ? 0 : 1);
    return true;
  }
}
