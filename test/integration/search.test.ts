/** Text search returns the same pages, in whichever way ripgrep was run. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type SearchLimits, searchText } from '../../src/noun/hub/inside/file/search.ts';

const root = mkdtempSync(join(tmpdir(), 'carrel-search-'));
const { signal } = new AbortController();
const names = ['a', 'a-b.ts', 'a.ts', 'B.ts', 'c/d', 'c.d/e', 'c-d', 'ü.ts', '\u{ffee}.ts', '\u{10400}.ts', 'x y/z.ts'];
/** With one thread; with all threads; with all threads, which find too much to sort. */
const ways: Readonly<Record<string, SearchLimits>> = {
  'in order': { inOrderMs: 60_000, unordered: 0 },
  sorted: { inOrderMs: 0, unordered: 1000 },
  'too many to sort': { inOrderMs: 0, unordered: 3 },
};

beforeAll(() => {
  for (const name of names) {
    mkdirSync(dirname(join(root, 'src', name)), { recursive: true });
    writeFileSync(join(root, 'src', name), 'one needle\nnothing\nneedle, needle\r\n');
  }
});
afterAll(() => rmSync(root, { recursive: true }));

async function search(limits: SearchLimits, limit: number, skip = 0, pattern = 'needle') {
  const asked = { pattern, path: 'src', isLiteral: false, ignoreCase: false, globs: [], limit, skip };
  const { items, more } = await searchText(root, asked, signal, limits);
  return { found: items.map(({ path, line, column, text }) => `${path}:${line}:${column}: ${text}`), more };
}

it.each(Object.entries(ways))('a search finds every match once, file by file, %s', async (_, limits) => {
  const { found, more } = await search(limits, 1000);
  const sorted = names.toSorted((a, b) => Buffer.compare(orderOf(a), orderOf(b)));
  expect(found).toEqual(sorted.flatMap((name) => [`src/${name}:1:5: one needle`, `src/${name}:3:1: needle, needle`]));
  expect(more).toBe(false);
});

function orderOf(path: string): Buffer {
  return Buffer.from(path.replaceAll('/', '\0'));
}

it('a page of results is the same in each way of searching', async () => {
  const all = (await search(ways['in order']!, 1000)).found;
  for (const limits of Object.values(ways)) {
    expect(await search(limits, 5)).toEqual({ found: all.slice(0, 5), more: true });
    expect(await search(limits, 5, 5)).toEqual({ found: all.slice(5, 10), more: true });
    expect(await search(limits, 5, all.length - 5)).toEqual({ found: all.slice(-5), more: false });
  }
});

it.each(Object.entries(ways))(
  'a search refuses an invalid pattern, and finds nothing if there is no match, %s',
  async (_, limits) => {
    await expect(search(limits, 5, 0, '(')).rejects.toThrow(/^ripgrep: .*unclosed group/s);
    expect(await search(limits, 5, 0, 'haystack')).toEqual({ found: [], more: false });
  },
);
