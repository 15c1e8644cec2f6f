/**
 * JSON text with the place of every value, for files that people read too: what is wrong is told with its line, and one
 * value is exchanged without touching another character.
 *
 * Stricter than JSON.parse in one thing: a name that an object has twice is refused, since readers differ in which they take.
 */
import type { JsonPath } from './shape.ts';

export interface JsonMember {
  readonly name: string;
  /** Where its name begins. */
  readonly at: number;
  readonly node: JsonNode;
}

export interface JsonNode {
  readonly start: number;
  /** Behind its last character. */
  readonly end: number;
  readonly value: unknown;
  /** Of an object, in the order of the text. */
  readonly members: readonly JsonMember[];
  /** Of a list. */
  readonly items: readonly JsonNode[];
}

export class JsonError extends Error {
  override readonly name = 'JsonError';
  readonly offset: number;

  constructor(offset: number, reason: string) {
    super(reason);
    this.offset = offset;
  }
}

export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const maxDepth = 100;
const space = /[ \t\n\r]*/y;
const literal = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** A byte order mark at the very beginning counts as space. */
export function parseJsonText(text: string): JsonNode {
  let at = text.startsWith('\ufeff') ? 1 : 0;
  const root = value(0);
  skip();
  if (at < text.length) fail('nothing may follow the value');
  return root;

  function fail(reason: string, offset = at): never {
    throw new JsonError(offset, offset >= text.length ? `the text ends too early: ${reason}` : reason);
  }

  function skip(): void {
    space.lastIndex = at;
    space.test(text);
    at = space.lastIndex;
  }

  function value(depth: number): JsonNode {
    skip();
    if (depth > maxDepth) fail(`nested deeper than ${maxDepth}`);
    if (text[at] === '{') return object(depth);
    if (text[at] === '[') return list(depth);
    const start = at;
    const scalar = text[at] === '"' ? string() : word();
    return { start, end: at, value: scalar, members: [], items: [] };
  }

  function word(): unknown {
    literal.lastIndex = at;
    const found = literal.exec(text)?.[0];
    if (found === undefined) fail('expected a value');
    at += found.length;
    return JSON.parse(found);
  }

  /** Not by a pattern: those have their own limits on what is long. */
  function string(): string {
    const start = at;
    for (at++; text[at] !== '"'; at++) {
      if (at >= text.length) fail('a text that is not closed');
      if (text[at] === '\\') at++;
    }
    at++;
    try {
      return JSON.parse(text.slice(start, at));
    } catch {
      return fail('a text with a character that has to be escaped', start);
    }
  }

  function object(depth: number): JsonNode {
    const start = at;
    const members: JsonMember[] = [];
    const names = new Set<string>();
    each('}', () => {
      const from = at;
      if (text[at] !== '"') fail('expected a name in double quotes');
      const name = string();
      if (names.has(name)) fail(`${JSON.stringify(name.slice(0, 80))} is there twice`, from);
      names.add(name);
      skip();
      if (text[at] !== ':') fail('expected ":"');
      at++;
      members.push({ name, at: from, node: value(depth + 1) });
    });
    const entries = members.map(({ name, node }) => [name, node.value] as const);
    return { start, end: at, value: Object.fromEntries(entries), members, items: [] };
  }

  function list(depth: number): JsonNode {
    const start = at;
    const items: JsonNode[] = [];
    each(']', () => items.push(value(depth + 1)));
    return { start, end: at, value: items.map((item) => item.value), members: [], items };
  }

  function each(close: string, one: () => void): void {
    at++;
    skip();
    if (text[at] === close) return void at++;
    for (;;) {
      skip();
      one();
      skip();
      if (text[at] === close) return void at++;
      if (text[at] !== ',') fail(`expected "," or "${close}"`);
      at++;
    }
  }
}

/** The value at a path; null where there is none. */
export function nodeAt(root: JsonNode, path: JsonPath): JsonNode | null {
  let node: JsonNode | undefined = root;
  for (const part of path) {
    node = typeof part === 'number' ? node.items[part] : node.members.find(({ name }) => name === part)?.node;
    if (!node) return null;
  }
  return node;
}

/** The deepest value on the way to a path that is there. */
export function nearestNode(root: JsonNode, path: JsonPath): JsonNode {
  for (let length = path.length; length > 0; length--) {
    const node = nodeAt(root, path.slice(0, length));
    if (node) return node;
  }
  return root;
}

export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

export function applyEdits(text: string, edits: readonly Edit[]): string {
  const ordered = [...edits].sort((a, b) => a.start - b.start);
  const pieces: string[] = [];
  let from = 0;
  for (const edit of ordered) {
    pieces.push(text.slice(from, edit.start), edit.text);
    from = edit.end;
  }
  return pieces.join('') + text.slice(from);
}

/** Sets a member of an object: its value is exchanged, or it is added at the end in the manner of the member before it. */
export function setMember(text: string, object: JsonNode, name: string, value: unknown): Edit {
  const encoded = JSON.stringify(value);
  const found = object.members.find((member) => member.name === name);
  if (found) return { start: found.node.start, end: found.node.end, text: encoded };
  const last = object.members.at(-1);
  if (!last) return { start: object.start, end: object.end, text: `{${JSON.stringify(name)}: ${encoded}}` };
  const colon = text.lastIndexOf(':', last.node.start);
  const between = `${spaceBefore(text, colon)}:${spaceBefore(text, last.node.start)}`;
  const at = last.node.end;
  return { start: at, end: at, text: `,${spaceBefore(text, last.at)}${JSON.stringify(name)}${between}${encoded}` };
}

function spaceBefore(text: string, end: number): string {
  let start = end;
  while (start > 0 && ' \t\n\r'.includes(text[start - 1]!)) start--;
  return text.slice(start, end);
}
