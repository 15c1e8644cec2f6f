/**
 * JSON text with the position of every value, for files that people read too: an error has its line, and one value is
 * replaced without a change to any other character.
 *
 * The parser is stricter than JSON.parse in one thing: it refuses a name that an object has twice, since parsers differ
 * in which value they use.
 */
import { printParseErrorCode, visit } from 'jsonc-parser';
import type { JsonPath } from '../../../model/shape.ts';

export interface JsonMember {
  readonly name: string;
  /** The offset of its name. */
  readonly at: number;
  readonly node: JsonNode;
}

export interface JsonNode {
  readonly start: number;
  /** The offset after its last character. */
  readonly end: number;
  readonly value: unknown;
  /** The members of an object, in the order of the text. */
  readonly members: readonly JsonMember[];
  /** The items of a list. */
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

export interface JsonEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface JsonRules {
  readonly maxDepth?: number;
  /** An object may have a name twice: `members` has both, `value` the last. */
  readonly repeatedNames?: boolean;
  /** Comments, and commas before a closing bracket, are accepted. */
  readonly lenient?: boolean;
}

/** A byte order mark at the very beginning counts as space. */
export function parseJsonText(text: string, rules: JsonRules = {}): JsonNode {
  const { maxDepth = 100, lenient = false, repeatedNames = false } = rules;
  const builder = new TreeBuilder(maxDepth, repeatedNames);
  const handlers = {
    onObjectBegin: (start: number) => builder.open(start),
    onObjectProperty: (name: string, at: number) => builder.name(name, at),
    onObjectEnd: (offset: number, length: number) => builder.closeObject(offset + length),
    onArrayBegin: (start: number) => builder.open(start),
    onArrayEnd: (offset: number, length: number) => builder.closeList(offset + length),
    onLiteralValue: (value: unknown, start: number, length: number) =>
      builder.add({ start, end: start + length, value, members: none, items: none }),
    onError: (code: number, offset: number) => {
      const reason = reasons[printParseErrorCode(code)] ?? 'expected a value';
      throw new JsonError(offset, offset >= text.length ? `the text ends too early: ${reason}` : reason);
    },
  };
  visit(text.replace(/^\ufeff/, ' '), handlers, { disallowComments: !lenient, allowTrailingComma: lenient });
  return builder.root;
}

/** Shared: a large file has tens of thousands of values without members. */
const none: readonly never[] = [];

const reasons: Readonly<Record<string, string>> = {
  PropertyNameExpected: 'expected a name in double quotes',
  ColonExpected: 'expected ":"',
  CommaExpected: 'expected ","',
  CloseBraceExpected: 'expected "," or "}"',
  CloseBracketExpected: 'expected "," or "]"',
  EndOfFileExpected: 'nothing may follow the value',
  InvalidCommentToken: 'a comment',
  UnexpectedEndOfComment: 'a comment that is not closed',
  UnexpectedEndOfString: 'a text that is not closed',
  UnexpectedEndOfNumber: 'a number that is not complete',
  InvalidUnicode: 'a text with an escape that stands for no character',
  InvalidEscapeCharacter: 'a text with an escape that stands for no character',
  InvalidCharacter: 'a text with a character that has to be escaped',
};

interface OpenNode {
  readonly start: number;
  readonly members: JsonMember[];
  readonly items: JsonNode[];
  readonly names: Set<string>;
  /** The member whose value comes next. */
  name: { readonly name: string; readonly at: number } | null;
}

class TreeBuilder {
  readonly #maxDepth: number;
  readonly #repeatedNames: boolean;
  readonly #open: OpenNode[] = [];
  root!: JsonNode;

  constructor(maxDepth: number, repeatedNames: boolean) {
    this.#maxDepth = maxDepth;
    this.#repeatedNames = repeatedNames;
  }

  open(start: number): void {
    if (this.#open.length > this.#maxDepth) throw new JsonError(start, `nested deeper than ${this.#maxDepth}`);
    this.#open.push({ start, members: [], items: [], names: new Set(), name: null });
  }

  name(name: string, at: number): void {
    const object = this.#open.at(-1)!;
    if (object.names.has(name) && !this.#repeatedNames)
      throw new JsonError(at, `${JSON.stringify(name.slice(0, 80))} is there twice`);
    object.names.add(name);
    object.name = { name, at };
  }

  closeObject(end: number): void {
    const { start, members } = this.#open.pop()!;
    const entries = members.map(({ name, node }) => [name, node.value] as const);
    this.add({ start, end, value: Object.fromEntries(entries), members, items: none });
  }

  closeList(end: number): void {
    const { start, items } = this.#open.pop()!;
    this.add({ start, end, value: items.map((item) => item.value), members: none, items });
  }

  add(node: JsonNode): void {
    const parent = this.#open.at(-1);
    if (parent === undefined) this.root = node;
    else if (parent.name === null) parent.items.push(node);
    else parent.members.push({ name: parent.name.name, at: parent.name.at, node });
  }
}

/** The value at a path; null: there is none. */
export function nodeAt(root: JsonNode, path: JsonPath): JsonNode | null {
  let node: JsonNode | undefined = root;
  for (const part of path) {
    node = typeof part === 'number' ? node.items[part] : node.members.find(({ name }) => name === part)?.node;
    if (!node) return null;
  }
  return node;
}

/** The value at a path, or the nearest one above it that exists. */
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

export function applyEdits(text: string, edits: readonly JsonEdit[]): string {
  const ordered = [...edits].sort((a, b) => a.start - b.start);
  const pieces: string[] = [];
  let from = 0;
  for (const edit of ordered) {
    pieces.push(text.slice(from, edit.start), edit.text);
    from = edit.end;
  }
  return pieces.join('') + text.slice(from);
}

/** Sets a member of an object: replaces its value, or adds it at the end in the layout of the member before it. */
export function setMember(text: string, object: JsonNode, name: string, value: unknown): JsonEdit {
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
