/**
 * YAML from untrusted authors, parsed cheaply, with the line and column of every value. A kilobyte of nesting keeps the
 * usual parser busy for minutes or ends the process, so the depth is measured first, without recursion; aliases and tags are
 * refused.
 */
import {
  Composer,
  CST,
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  Parser,
  visit,
} from 'yaml';
import { Fault } from '../../model/fault.ts';
import type { JsonPath } from '../../model/shape.ts';

export interface YamlDocument {
  /** Null: the document is empty. */
  readonly content: unknown;
  /** The position of a value, or of the nearest one that exists. */
  locate(place: JsonPath): YamlPosition;
}

export interface YamlPosition {
  readonly offset: number;
  /** `file.yaml:12:5` */
  readonly text: string;
}

const deepest = 20;

export function readYaml(text: string, file: string): YamlDocument {
  const lines = new LineCounter();
  const positionOf = (offset: number): YamlPosition => {
    const { line, col } = lines.linePos(offset);
    return { offset, text: `${file}:${line}:${col}` };
  };
  const refuse = (offset: number, message: string, hint = 'Correct the file.') =>
    new Fault('invalid', `${positionOf(offset).text}: ${message}`, { hint });
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  const tooDeep = deeperThan(tokens, deepest);
  if (tooDeep !== null) throw refuse(tooDeep.offset, `nested deeper than ${deepest} levels`);
  const [document, second] = [...new Composer({ prettyErrors: false }).compose(tokens, true, text.length)];
  const wrong = [...document!.errors, ...document!.warnings][0];
  if (wrong) throw refuse(wrong.pos[0], wrong.message);
  if (second) throw refuse(second.range[0], 'a second document begins here', 'A file has one.');
  const odd = oddity(document!);
  if (odd) throw refuse(odd.node.range?.[0] ?? 0, odd.message, odd.hint);
  return { content: document!.toJS(), locate: (place) => positionOf(offsetOf(document!, place)) };
}

interface Oddity {
  readonly node: Node;
  readonly message: string;
  readonly hint?: string;
}

/** Features of YAML that are not supported, and keys that would be lost in JavaScript objects. */
function oddity(document: Document): Oddity | null {
  let found: Oddity | null = null;
  visit(document, {
    Alias: (_, node) => {
      found ??= { node, message: 'aliases are not taken', hint: 'Write it out.' };
    },
    Value: (_, node) => {
      if (node.tag !== undefined) found ??= { node, message: 'tags are not taken', hint: 'Put text in quotes.' };
    },
    Pair: (_, { key }) => {
      const isName = isScalar(key) && ['string', 'number'].includes(typeof key.value) && key.value !== '__proto__';
      if (!isName && isNode(key)) found ??= { node: key, message: 'this cannot be a key' };
    },
  });
  return found;
}

/** The first token that is nested deeper than that; with a list instead of recursion, since the depth is not known. */
function deeperThan(tokens: readonly CST.Token[], levels: number): CST.Token | null {
  const waiting = tokens.map((token) => ({ token, level: 0 }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { token, level } = next;
    if (level > levels) return token;
    if (token.type === 'document' && token.value) waiting.push({ token: token.value, level });
    if (!CST.isCollection(token)) continue;
    for (const { key, value } of token.items) {
      for (const inner of [key, value]) if (inner) waiting.push({ token: inner, level: level + 1 });
    }
  }
  return null;
}

/** The position of the key at that place, or of the item of a list. */
function offsetOf(document: Document, place: JsonPath): number {
  let node: unknown = document.contents;
  let offset = isNode(node) ? (node.range?.[0] ?? 0) : 0;
  for (const step of place) {
    const found = isMap(node) ? entryOf(node, String(step)) : isSeq(node) ? itemOf(node, Number(step)) : null;
    if (found === null) break;
    offset = found.offset;
    node = found.node;
  }
  return offset;
}

function entryOf(map: { items: readonly { key: unknown; value: unknown }[] }, name: string) {
  const entry = map.items.find(({ key }) => isNode(key) && String(key) === name);
  return entry && isNode(entry.key) ? { node: entry.value, offset: entry.key.range?.[0] ?? 0 } : null;
}

function itemOf(list: { items: readonly unknown[] }, index: number) {
  const node = list.items[index];
  return isNode(node) ? { node, offset: node.range?.[0] ?? 0 } : null;
}
