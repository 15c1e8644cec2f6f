/** Files and folders that the documents name exist, so that readers can follow the code. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { staircase } from './house.ts';

const read = (document: string) => readFileSync(document, 'utf8');
/** Names such as `src/kernel/engine/NAME/NAME.ts`, and files of an installation, which begin with HOME. */
const isPattern = (path: string) => /[A-Z]{4}/.test(path);

it.each(['ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'SCOPE.md'])(
  'every path that %s names exists as it is written: from the root, from src or from src/noun',
  (document) => {
    expect([...new Set(paths(read(document)))].filter((path) => !isThere(path))).toEqual([]);
  },
);

/** Words between backquotes that have a slash or end like a file of the code, and each `src/…`, also in pictures. */
function paths(text: string): string[] {
  const quoted = [...text.matchAll(/`([\w.-]+(?:\/[\w.-]*)+|[\w.-]+\.(?:ts|cts|mjs))`/g)].map(([, path]) => path!);
  const others = [...text.matchAll(/(?<![\w/])src\/[\w./-]*[\w/]/g)].map(([path]) => path);
  return [...quoted, ...others];
}

/** A path with NOUN stands for all nouns: one of them has it. */
function isThere(path: string): boolean {
  const named = path.includes('NOUN') ? staircase.map((noun) => path.replaceAll('NOUN', noun)) : [path];
  return named.some((name) => isPattern(name) || ['', 'src/', 'src/noun/'].some((top) => existsSync(top + name)));
}

const files = ['src', 'scripts', 'test'].flatMap((top) =>
  readdirSync(top, { recursive: true, encoding: 'utf8' }).map((path) => `/${top}/${path}`),
);
const decisions = readdirSync('docs/decisions').map((name) => `docs/decisions/${name}`);

it.each(['test/README.md', ...decisions])('every file of the code that %s names exists, in any folder', (document) => {
  const named = [...read(document).matchAll(/`([\w./-]+\.(?:ts|cts|mjs))`/g)].map(([, path]) => path!);
  const isKnown = (path: string) => existsSync(path) || files.some((file) => file.endsWith(`/${path}`));
  expect(named.filter((path) => !isPattern(path) && !isKnown(path))).toEqual([]);
});
