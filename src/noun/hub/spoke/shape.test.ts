import { expect, it } from 'vitest';
import { parseMessage, parseResult } from './shape.ts';

const answer = { status: 'complete', server: 'typescript', version: 'v' };
const hash = 'a'.repeat(64);
const range = { startLine: 1, startColumn: 1, endLine: 1, endColumn: 2, newText: 'b' };

it('a change that a language server proposes keeps its fields and loses others', () => {
  const changes = [
    { kind: 'edit', path: 'a.ts', edits: [range], expectedHash: hash },
    { kind: 'create', path: 'b.ts', content: { encoding: 'utf-8', content: '' }, overwrite: false },
    { kind: 'rename', path: 'b.ts', to: 'c.ts', overwrite: true },
    { kind: 'delete', path: 'd', recursive: true },
  ];
  const sent = { ...answer, changes: changes.map((change) => ({ ...change, mode: 0o777 })) };
  expect(parseResult('code/edit', sent)).toEqual({ ...answer, changes });
});

it.each([
  ['without a kind', { path: 'a.ts' }],
  ['of an unknown kind', { kind: 'chmod', path: 'a.ts' }],
  ['that edits by text', { kind: 'edit', path: 'a.ts', edits: [{ oldText: 'a', newText: 'b' }] }],
  ['before the first column', { kind: 'edit', path: 'a.ts', edits: [{ ...range, startColumn: 0 }] }],
  ['with a hash that is too short', { kind: 'delete', path: 'a.ts', recursive: false, expectedHash: 'a' }],
  ['with a word for a flag', { kind: 'rename', path: 'a.ts', to: 'b.ts', overwrite: 'yes' }],
])('a change %s is refused', (_title, change) => {
  expect(() => parseResult('code/edit', { ...answer, changes: [change] })).toThrow();
});

it.each([
  ['four numbers', { path: 'a', places: [[1, 2, 3, 4]] }],
  ['a place before the file', { path: 'a', places: [[-1, 2, 3, 4, '']] }],
  ['no path', { places: [] }],
])('places with %s are refused', (_title, file) => {
  expect(() => parseResult('code/locate', { ...answer, items: [file], more: false })).toThrow();
});

it('an answer to code/setup with a field is refused; other empty answers lose their fields', () => {
  expect(() => parseResult('code/setup', { more: 1 })).toThrow();
  expect(parseResult('edit/finish', { more: 1 })).toEqual({});
});

it('a fault with a code of the daemon alone is refused', () => {
  const fault = { code: 'unauthenticated', message: 'a token is needed' };
  expect(() => parseMessage(JSON.stringify({ id: 1, fault }))).toThrow();
});
