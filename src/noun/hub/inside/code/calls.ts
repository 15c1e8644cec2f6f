/** The callers of a function, and the functions that it calls. */

import { open, type Shape, type Shaped, text, whole } from '../../../../model/shape.ts';
import type { CallDirection, Calls, CodeCaller, CodePage } from '../../model/code.ts';
import type { CodeCall } from '../inside.ts';
import { listOf, type Range, range, resultOf, uri } from '../lsp/answer/answer.ts';
import { symbolKind } from '../lsp/answer/symbol.ts';
import { pathOf } from '../lsp/answer/uri.ts';
import type { LspAnswer } from '../lsp/lsp.ts';
import { linesOf, textAt } from './place.ts';
import { answerOf, optionsOf, pageOf, positionOf, rangeOf } from './position.ts';

const item = open({ name: text({ max: 10_000 }), kind: whole(0, 1000), uri, selectionRange: range });
type Item = Shaped<typeof item>;
/** The server gets its item back as it was, with fields that only it knows. */
const unchanged: Shape<object> = (value, path) => ({ ...item(value, path), ...(value as object) });
const fromRanges = listOf(range);
const incoming = listOf(open({ from: item, fromRanges }));
const outgoing = listOf(open({ to: item, fromRanges }));

export async function callsOf(root: string, request: Calls, call: CodeCall): Promise<CodePage<CodeCaller>> {
  const { at, direction } = request;
  const options = optionsOf(request, call);
  const position = await positionOf(root, call.servers, at, options);
  const prepared = await call.servers.request(at.path, 'textDocument/prepareCallHierarchy', { position }, options);
  const [first] = resultOf(prepared, listOf(unchanged));
  if (first === undefined) return { ...answerOf(prepared), items: [], more: false };
  const answer = await call.servers.request(at.path, `callHierarchy/${direction}Calls`, { item: first }, options);
  const { items, more } = pageOf(callersOf(root, answer, direction), request);
  const read = linesOf(call.servers);
  const shown = items.map((one) => ({ ...one, text: textAt(read(one.path), one.line - 1) }));
  return { ...answerOf(answer), items: shown, more };
}

/** Incoming: one entry for each place of a call. Outgoing: one entry for each function that is called. */
function callersOf(root: string, answer: LspAnswer, direction: CallDirection): CodeCaller[] {
  if (direction === 'incoming') {
    const found = resultOf(answer, incoming);
    return found.flatMap(({ from, fromRanges: places }) => places.map((place) => callerOf(root, from, place)));
  }
  return resultOf(answer, outgoing).map(({ to }) => callerOf(root, to, to.selectionRange));
}

function callerOf(root: string, { name, kind, uri: where }: Item, place: Range): CodeCaller {
  return { ...rangeOf(pathOf(root, where), place), text: '', name, kind: symbolKind(kind) };
}
