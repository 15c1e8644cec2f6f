import { describe, expect, it } from 'vitest';
import { workspaceEdit } from './workspace-edit.ts';

const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } };
const edits = [{ range, newText: 'x' }];
const of = (uri: string) => ({ textDocument: { uri, version: null }, edits });
const uris = (value: unknown) => workspaceEdit(value, []).map(({ uri }) => uri);

describe('the order of an edit', () => {
  it('does not depend on the order in which a server names files', () => {
    expect(uris({ changes: { 'file:///b': edits, 'file:///a': edits } })).toEqual(['file:///a', 'file:///b']);
    expect(uris({ documentChanges: [of('file:///b'), of('file:///a')] })).toEqual(['file:///a', 'file:///b']);
  });

  it('is that of the server if a file is created, renamed or deleted', () => {
    const rename = { kind: 'rename', oldUri: 'file:///b', newUri: 'file:///a' };
    expect(uris({ documentChanges: [rename, of('file:///a')] })).toEqual(['file:///b', 'file:///a']);
  });
});
