import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { hashOf } from '../file/content.ts';
import { resultOf } from '../lsp/answer/answer.ts';
import { workspaceEdit } from '../lsp/answer/workspace-edit.ts';
import { changesOf } from './server-changes.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'carrel-changes-'));
  writeFileSync(join(root, 'a.ts'), 'one\r\ntwo');
});
afterEach(() => rmSync(root, { recursive: true }));

const uri = (path: string) => pathToFileURL(join(root, path)).href;
const edit = (line: number, from: number, to: number, newText: string) => ({
  range: { start: { line, character: from }, end: { line, character: to } },
  newText,
});
const converted = (result: unknown) =>
  changesOf(root, 'fake', resultOf({ server: 'fake', status: 'complete', version: '', result }, workspaceEdit));

it('edits of a server become changes with the hash of the file, in both forms', () => {
  const edits = [edit(1, 0, 3, 'zwei')];
  const expected = [
    {
      ...{ kind: 'edit', path: 'a.ts', expectedHash: hashOf(Buffer.from('one\r\ntwo')) },
      edits: [{ startLine: 2, startColumn: 1, endLine: 2, endColumn: 4, newText: 'zwei' }],
    },
  ];
  expect(converted({ changes: { [uri('a.ts')]: edits } })).toEqual(expected);
  expect(converted({ documentChanges: [{ textDocument: { uri: uri('a.ts'), version: 1 }, edits }] })).toEqual(expected);
});

it('positions after the end of a line or of the text mean that end', () => {
  const [change] = converted({ changes: { [uri('a.ts')]: [edit(0, 2, 99, ''), edit(9, 0, 9, 'x')] } });
  expect(change).toMatchObject({
    edits: [
      { startLine: 1, startColumn: 3, endLine: 1, endColumn: 4 },
      { startLine: 2, startColumn: 4, endLine: 2, endColumn: 4 },
    ],
  });
});

it('an edit of a file that the same answer creates or renames is computed from the content before that', () => {
  const moved = { kind: 'rename', oldUri: uri('a.ts'), newUri: uri('b.ts') };
  const document = (path: string) => ({ textDocument: { uri: uri(path) }, edits: [edit(0, 0, 0, 'x')] });
  const changes = converted({
    documentChanges: [moved, document('b.ts'), { kind: 'create', uri: uri('c.ts') }, document('c.ts')],
  });
  expect(changes.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
    'rename a.ts',
    'edit b.ts',
    'create c.ts',
    'edit c.ts',
  ]);
  expect(changes[1]).toHaveProperty('expectedHash', hashOf(Buffer.from('one\r\ntwo')));
});

describe('changes of a language server are refused:', () => {
  test.each([
    ['a file outside of the project', () => ({ changes: { 'file:///etc/passwd': [edit(0, 0, 0, 'x')] } }), 'denied'],
    [
      'a path that leads out of the project',
      () => ({ changes: { [`${uri('a.ts')}/../../x`]: [edit(0, 0, 0, 'x')] } }),
      'denied',
    ],
    [
      'a URL that does not name a file',
      () => ({ changes: { 'http://example.org/a': [edit(0, 0, 0, 'x')] } }),
      'denied',
    ],
    ['a document that was never saved', () => ({ changes: { 'untitled:a': [edit(0, 0, 0, 'x')] } }), 'denied'],
    ['the removal of the project itself', () => ({ documentChanges: [{ kind: 'delete', uri: uri('') }] }), 'denied'],
    [
      'a new path outside of the project',
      () => ({ documentChanges: [{ kind: 'rename', oldUri: uri('a.ts'), newUri: 'file:///tmp/x' }] }),
      'denied',
    ],
    ['a list instead of an edit', () => ({ changes: { [uri('a.ts')]: [[1]] } }), 'internal'],
    ['a negative line', () => ({ changes: { [uri('a.ts')]: [edit(-1, 0, 0, 'x')] } }), 'internal'],
    ['an unknown change', () => ({ documentChanges: [{ kind: 'format', uri: uri('a.ts') }] }), 'internal'],
    ['text instead of a list of changes', () => ({ changes: 'all' }), 'internal'],
  ])('%s', (_, result, code) => {
    expect(() => converted(result())).toThrow(expect.objectContaining({ code }));
  });
});
