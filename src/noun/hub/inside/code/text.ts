/** What a server knows about a position: hover text, signatures and completions. */

import { list, open, orNull, plainObject, type Shape, text, whole } from '../../../../model/shape.ts';
import type { AtPosition, CodeCompletion, CodePage, Complete, Hover, Signature } from '../../model/code.ts';
import type { CodeCall } from '../inside.ts';
import { listOf, markup, resultOf, textOrNone } from '../lsp/answer/answer.ts';
import { answerOf, optionsOf, pageOf, positionOf } from './position.ts';

const maxHoverLength = 20_000;
const maxDetailLength = 500;

export async function hover(root: string, request: AtPosition, call: CodeCall): Promise<Hover> {
  const answer = await requestAt(root, 'textDocument/hover', request, call);
  const found = resultOf(answer, orNull(open({ contents: markup })));
  return { ...answerOf(answer), text: found?.contents.trim().slice(0, maxHoverLength) || null };
}

async function requestAt(root: string, method: string, request: AtPosition, call: CodeCall) {
  const options = optionsOf(request, call);
  const position = await positionOf(root, call.servers, request.at, options);
  return call.servers.request(request.at.path, method, { position }, options);
}

const active: Shape<number | null> = (value, path) =>
  value === null || value === undefined ? null : whole(0, 100_000)(value, path);
const signature = open({ label: text({ max: 100_000 }) }, { documentation: markup, activeParameter: active });
const signatureHelp = orNull(open({ signatures: list(signature, 10_000) }, { activeParameter: active }));

export async function signatures(root: string, request: AtPosition, call: CodeCall): Promise<CodePage<Signature>> {
  const answer = await requestAt(root, 'textDocument/signatureHelp', request, call);
  const help = resultOf(answer, signatureHelp);
  const items = (help?.signatures ?? []).slice(0, 50).map(({ label, documentation = '', activeParameter }) => ({
    label: label.slice(0, 2000),
    documentation: documentation.slice(0, 2000),
    activeParameter: activeParameter ?? help?.activeParameter ?? null,
  }));
  return { ...answerOf(answer), items, more: (help?.signatures.length ?? 0) > items.length };
}

const completion = open(
  { label: text({ max: 100_000 }) },
  { kind: whole(0, 1000), detail: textOrNone(100_000), sortText: textOrNone(100_000) },
);
const completions = listOf(completion);
/** A list, or an object with a list and `isIncomplete`: more typing would give other items. */
const completionList: Shape<{ items: ReturnType<typeof completions>; isIncomplete: boolean }> = (value, path) => {
  if (value === null || Array.isArray(value)) return { items: completions(value, path), isIncomplete: false };
  const { items, isIncomplete } = plainObject(value, path);
  return { items: completions(items, [...path, 'items']), isIncomplete: isIncomplete === true };
};

const kinds = [
  ...['text', 'method', 'function', 'constructor', 'field', 'variable', 'class', 'interface', 'module', 'property'],
  ...['unit', 'value', 'enum', 'keyword', 'snippet', 'color', 'file', 'reference', 'folder', 'enum member', 'constant'],
  ...['struct', 'event', 'operator', 'type parameter'],
];

export async function complete(root: string, request: Complete, call: CodeCall): Promise<CodePage<CodeCompletion>> {
  const answer = await requestAt(root, 'textDocument/completion', request, call);
  const { items } = resultOf(answer, completionList);
  const order = (one: { sortText?: string; label: string }) => one.sortText || one.label;
  const sorted = items.toSorted((a, b) => (order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : 0));
  const shown = sorted.map(({ label, kind = 0, detail = '' }) => ({
    label: label.slice(0, maxDetailLength),
    kind: kinds[kind - 1] ?? 'unknown',
    detail: detail.slice(0, maxDetailLength),
  }));
  return { ...answerOf(answer), ...pageOf(shown, request) };
}
