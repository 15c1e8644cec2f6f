// @reads sources
/** Files that the documents name exist, so that readers can follow the code. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const files = ['src', 'scripts', 'test'].flatMap((top) =>
  readdirSync(top, { recursive: true, encoding: 'utf8' }).map((path) => `/${top}/${path}`),
);
const decisions = readdirSync('docs/decisions').map((name) => `docs/decisions/${name}`);

it.each(['ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'test/README.md', ...decisions])(
  'every file of the code that %s names exists',
  (document) => {
    const named = [...readFileSync(document, 'utf8').matchAll(/`([\w./-]+\.(?:ts|cts|mjs))`/g)].map(
      ([, path]) => path!,
    );
    const isKnown = (path: string) => existsSync(path) || files.some((file) => file.endsWith(`/${path}`));
    // A checklist has patterns such as `src/app/NOUN/NOUN.ts`.
    const isPattern = (path: string) => /[A-Z]{4}/.test(path);
    expect(named.filter((path) => !isPattern(path) && !isKnown(path))).toEqual([]);
  },
);
