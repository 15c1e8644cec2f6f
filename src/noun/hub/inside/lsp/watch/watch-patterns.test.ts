import { expect, it } from 'vitest';
import { WatchPatterns } from './watch-patterns.ts';

function registered(...globs: unknown[]): WatchPatterns {
  const watchers = new WatchPatterns();
  const registerOptions = { watchers: globs.map((globPattern) => ({ globPattern })) };
  watchers.register({ registrations: [{ id: '1', method: 'workspace/didChangeWatchedFiles', registerOptions }] }, '/p');
  return watchers;
}

it.each([
  ['**/*.ts', '/p/src/a.ts', true],
  ['**/*.ts', '/p/a.ts', true],
  ['**/*.ts', '/p/a.tsx', false],
  ['**', '/p/a/b', true],
  ['*.ts', '/p/a/b.ts', false],
  ['**/*.{ts,js}', '/p/a/b.js', true],
  ['**/{package,tsconfig}.json', '/p/tsconfig.json', true],
  ['**/[!a].c', '/p/b.c', true],
  ['**/[!a].c', '/p/a.c', false],
  ['/p/a+b/**/*', '/p/a+b/c', true],
  [{ baseUri: 'file:///p/src', pattern: '**/*' }, '/p/src/x', true],
  [{ baseUri: { uri: 'file:///p/src' }, pattern: '*' }, '/p/x', false],
])('a watcher of %j wants changes of %s: %s', (pattern, path, wanted) => {
  expect(registered(pattern).wants(path)).toBe(wanted);
});

it.each([['{'], ['['], [7], [null], [{ baseUri: 3, pattern: 'a' }], ['a'.repeat(5000)]])(
  'the invalid pattern %j is left out',
  (pattern) => {
    expect(registered(pattern, '**/*.ts').wants('/p/a.ts')).toBe(true);
  },
);

it('a registration can be removed', () => {
  const watchers = registered('**');
  watchers.unregister({ unregisterations: [{ id: '1' }] });
  expect(watchers.isEmpty).toBe(true);
});
