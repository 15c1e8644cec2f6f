/** Code actions of language servers: listed with an id, and computed again when one is applied. */
import { createHash } from 'node:crypto';
import { Fault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';
import { open, type Shape, text } from '../../../../model/shape.ts';
import type { CodeActions, CodeEdit, CodeLines, ListActions } from '../../model/code-edit.ts';
import { lineStarts } from '../edit/range-edit.ts';
import { readDocument } from '../file/document.ts';
import type { CodeCall, Computed } from '../inside.ts';
import { listOf, type Range, resultOf } from '../lsp/answer/answer.ts';
import { workspaceEdit } from '../lsp/answer/workspace-edit.ts';
import type { LanguageServers, LspAnswer, LspCallOptions } from '../lsp/lsp.ts';
import { answerOf } from './position.ts';

/** An action, with the object that its server wants back. */
interface Action {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  readonly sent: object;
}

const maxActions = 200;
const fields = open({ title: text({ max: 2000 }) }, { kind: text({ max: 500 }) });
const action: Shape<Action> = (value, path) => {
  const { title, kind = '' } = fields(value, path);
  const id = createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
  return { id, title, kind, sent: value as object };
};

export async function listActions(root: string, request: ListActions, call: CodeCall): Promise<CodeActions> {
  const { path, lines, timeoutMs } = request;
  const options = { signal: call.signal, timeoutMs };
  const { answer, actions } = await actionsAt(path, rangeOf(root, path, lines), call.servers, options);
  const shown = actions.slice(0, maxActions).map(({ id, title, kind }) => ({ id, title, kind }));
  return { ...answerOf(answer), actions: shown };
}

interface Found {
  readonly answer: LspAnswer;
  readonly actions: readonly Action[];
}

/** `only`: actions of this kind. */
async function actionsAt(
  path: string,
  range: Range,
  servers: LanguageServers,
  options: LspCallOptions,
  only?: string,
): Promise<Found> {
  const diagnostics = only === undefined ? await diagnosticsAt(path, range, servers, options) : [];
  const context = { diagnostics, ...(only === undefined ? {} : { only: [only] }) };
  const answer = await servers.request(path, 'textDocument/codeAction', { range, context }, options);
  return { answer, actions: resultOf(answer, listOf(action)) };
}

/** The diagnostics in a range. Servers offer quick fixes only for diagnostics that the client names. */
async function diagnosticsAt(
  path: string,
  range: Range,
  servers: LanguageServers,
  options: LspCallOptions,
): Promise<object[]> {
  const { result } = await servers.diagnose(path, options);
  return Array.isArray(result) ? result.filter((one) => touches((one as { range?: Range } | null)?.range, range)) : [];
}

function touches(one: Range | undefined, other: Range): boolean {
  return one !== undefined && one.start.line <= other.end.line && one.end.line >= other.start.line;
}

export async function importsEdit(
  root: string,
  path: string,
  servers: LanguageServers,
  options: LspCallOptions,
): Promise<Computed> {
  const kind = 'source.organizeImports';
  const all = await actionsAt(path, rangeOf(root, path, null), servers, options, kind);
  const found = all.actions.find((one) => one.kind.startsWith(kind));
  return found ? withEdit(path, all, found, servers, options) : { answer: all.answer, edit: [] };
}

export async function actionEdit(
  root: string,
  { path, lines, id }: CodeEdit & { act: 'apply' },
  servers: LanguageServers,
  options: LspCallOptions,
): Promise<Computed> {
  const all = await actionsAt(path, rangeOf(root, path, lines), servers, options);
  const found = all.actions.find((one) => one.id === id);
  if (found) return withEdit(path, all, found, servers, options);
  throw new Fault('conflict', `${printable(path)} has no action ${printable(id)} here any more`, {
    hint: 'List the actions again.',
  });
}

/** Some servers compute the edit of an action only when it is chosen. */
async function withEdit(
  path: string,
  found: Found,
  { sent, title }: Action,
  servers: LanguageServers,
  options: LspCallOptions,
): Promise<Computed> {
  if ('edit' in sent) return { answer: found.answer, edit: editIn({ ...found.answer, result: sent }) };
  const answer = 'data' in sent ? await servers.request(path, 'codeAction/resolve', sent, options) : found.answer;
  const edit = 'data' in sent ? editIn(answer) : [];
  if (edit.length > 0 || answer.status !== 'complete') return { answer, edit };
  throw new Fault('unsupported', `the action ${printable(title, 200)} is a command of ${answer.server}, not an edit`);
}

function editIn(answer: LspAnswer): Computed['edit'] {
  const { edit } = (answer.result ?? {}) as { edit?: unknown };
  return resultOf({ ...answer, result: edit }, workspaceEdit);
}

/** The range of whole lines, without the line break of the last one. */
function rangeOf(root: string, path: string, lines: CodeLines | null): Range {
  const { text: content } = readDocument(root, path);
  const starts = lineStarts(content);
  const first = (lines?.startLine ?? 1) - 1;
  const last = (lines?.endLine ?? starts.length) - 1;
  if (last >= starts.length || last < first) {
    const range = `${first + 1} to ${last + 1}`;
    throw new Fault('invalid', `${printable(path)} has no lines ${range}: it has ${starts.length}`);
  }
  const character = content.slice(starts[last], starts[last + 1]).replace(/[\r\n]+$/, '').length;
  return { start: { line: first, character: 0 }, end: { line: last, character } };
}
