/** Edits that language servers compute: renames, formatting, imports, code actions. Nothing is changed here. */
import { lstatSync } from 'node:fs';
import { extname, join } from 'node:path';
import { Fault, isFault } from '../../../../model/fault.ts';
import type { CodeChanges, CodeEdit, CodeEditMethods } from '../../model/code-edit.ts';
import type { FileChange } from '../../model/edit.ts';
import { listFiles } from '../file/list.ts';
import { realNames } from '../file/path.ts';
import type { CodeCall, Computed } from '../inside.ts';
import { resultOf } from '../lsp/answer/answer.ts';
import { uriOf } from '../lsp/answer/uri.ts';
import { textEdits, workspaceEdit } from '../lsp/answer/workspace-edit.ts';
import type { LanguageServers, LspAnswer, LspCallOptions } from '../lsp/lsp.ts';
import { actionEdit, importsEdit, listActions } from './action.ts';
import { answerOf, positionOf } from './position.ts';
import { changesOf } from './server-changes.ts';

type Methods = {
  [M in keyof CodeEditMethods]: (
    root: string,
    request: CodeEditMethods[M][0],
    call: CodeCall,
  ) => Promise<CodeEditMethods[M][1]>;
};

export const codeEditMethods: Methods = { 'code/edit': codeEdit, 'code/actions': listActions };

const maxAttempts = 5;

/**
 * The server reports the version of one document only, but an edit may change others. So the files are read, and the
 * server is asked again: it then knows at least these versions. If its answer is the same, the edit fits what was read.
 * If a file changes later, its hash makes the edit fail.
 */
async function codeEdit(root: string, request: CodeEdit, { servers, signal }: CodeCall): Promise<CodeChanges> {
  const options = { signal, timeoutMs: request.timeoutMs };
  let before: string | null = null;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const { answer, edit } = await compute(root, request, servers, options);
    requireComplete(answer);
    const changes = changesOf(root, answer.server, edit);
    const now = JSON.stringify(changes);
    if (now === before) return { ...answerOf(answer), changes: withMove(root, request, changes) };
    before = now;
  }
  throw new Fault('conflict', 'files of the project changed while the edit was computed', { hint: 'Try again.' });
}

function compute(
  root: string,
  request: CodeEdit,
  servers: LanguageServers,
  options: LspCallOptions,
): Promise<Computed> {
  if (request.act === 'rename') return renameEdit(root, request, servers, options);
  if (request.act === 'format') return formatEdit(root, request, servers, options);
  if (request.act === 'moveFile') return moveEdit(root, request, servers, options);
  if (request.act === 'organizeImports') return importsEdit(root, request.path, servers, options);
  return actionEdit(root, request, servers, options);
}

/** Throws if the server has not loaded the whole project, because its edit could miss places. */
function requireComplete({ status, server }: LspAnswer): void {
  if (status === 'complete') return;
  const why = status === 'indexing' ? 'is still indexing the project' : 'has not answered in time';
  throw new Fault('unavailable', `${server} ${why}`, { hint: 'Try again. Nothing was changed.' });
}

async function renameEdit(
  root: string,
  { at, newName }: CodeEdit & { act: 'rename' },
  servers: LanguageServers,
  options: LspCallOptions,
): Promise<Computed> {
  const position = await positionOf(root, servers, at, options);
  const answer = await servers.request(at.path, 'textDocument/rename', { position, newName }, options);
  const edit = resultOf(answer, workspaceEdit);
  if (edit.length === 0 && answer.status === 'complete')
    throw new Fault('invalid', 'there is nothing at this position that can be renamed');
  return { answer, edit };
}

async function formatEdit(
  root: string,
  { path, tabSize, insertSpaces }: CodeEdit & { act: 'format' },
  servers: LanguageServers,
  options: LspCallOptions,
): Promise<Computed> {
  const params = { options: { tabSize, insertSpaces } };
  const answer = await servers.request(path, 'textDocument/formatting', params, options);
  const uri = uriOf(root, realNames(root, path, true).join('/'));
  return { answer, edit: [{ kind: 'edit', uri, edits: resultOf(answer, textEdits) }] };
}

async function moveEdit(
  root: string,
  { path, to }: CodeEdit & { act: 'moveFile' },
  servers: LanguageServers,
  options: LspCallOptions,
): Promise<Computed> {
  const from = realNames(root, path, false).join('/');
  const files = [{ oldUri: uriOf(root, from), newUri: uriOf(root, realNames(root, to, false).join('/')) }];
  const answer = await askOne(filesIn(root, from), (file) =>
    servers.request(file, 'workspace/willRenameFiles', { files }, options),
  );
  return { answer, edit: resultOf(answer, workspaceEdit) };
}

/** The file itself, or one file of a folder for each extension. */
function filesIn(root: string, path: string): string[] {
  if (!lstatSync(join(root, path), { throwIfNoEntry: false })?.isDirectory()) return [path];
  const { items } = listFiles(root, { path, depth: 20, limit: 1000 });
  const files = items.filter(({ kind }) => kind === 'file').map((item) => item.path);
  return [...new Map(files.map((file) => [extname(file), file])).values()];
}

/** The first answer of a server that supports it. */
async function askOne(files: readonly string[], ask: (file: string) => Promise<LspAnswer>): Promise<LspAnswer> {
  for (const file of files) {
    try {
      return await ask(file);
    } catch (error) {
      if (!isFault(error, 'unsupported')) throw error;
    }
  }
  throw new Fault('unsupported', 'no language server updates imports when this file or folder moves');
}

/** The imports are edited before the move, while the file is at its old path. */
function withMove(root: string, request: CodeEdit, changes: readonly FileChange[]): readonly FileChange[] {
  if (request.act !== 'moveFile') return changes;
  const path = realNames(root, request.path, false).join('/');
  return [...changes, { kind: 'rename', path, to: request.to, overwrite: false }];
}
