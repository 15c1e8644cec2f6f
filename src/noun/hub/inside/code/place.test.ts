import { expect, it } from 'vitest';
import { ParsedLocations } from '../lsp/answer/location-list.ts';
import { placesOn } from './place.ts';

const at = (uri: string, line: number, character = 0) => ({
  uri: `file:///workspace/${uri}`,
  range: { start: { line, character }, end: { line, character: character + 1 } },
});
const found = [at('b.ts', 5), at('a.ts', 9), at('b.ts', 2, 4), at('a.ts', 1), at('b.ts', 2, 4), at('c.ts', 0)];

function pageOf(skip: number, limit: number) {
  const reads: string[] = [];
  const read = (path: string) => {
    reads.push(path);
    return ['first', 'second\r'];
  };
  const { items, more } = placesOn({ skip, limit }, '/workspace', new ParsedLocations(found), read);
  const places = items.flatMap(({ path, places: all }) => all.map(([line, column]) => `${path}:${line}:${column}`));
  return { items, more, reads, places };
}

it('places are sorted by path and position, each once', () => {
  expect(pageOf(0, 10)).toMatchObject({
    places: ['a.ts:2:1', 'a.ts:10:1', 'b.ts:3:5', 'b.ts:6:1', 'c.ts:1:1'],
    more: false,
    items: [
      {
        places: [
          [2, 1, 2, 2, 'second'],
          [10, 1, 10, 2, ''],
        ],
      },
      {},
      { path: 'c.ts' },
    ],
  });
});

it.each([
  [0, 1, ['a.ts:2:1'], true],
  [1, 2, ['a.ts:10:1', 'b.ts:3:5'], true],
  [0, 2, ['a.ts:2:1', 'a.ts:10:1'], true],
  [3, 2, ['b.ts:6:1', 'c.ts:1:1'], false],
  [0, 5, ['a.ts:2:1', 'a.ts:10:1', 'b.ts:3:5', 'b.ts:6:1', 'c.ts:1:1'], false],
  [9, 2, [], false],
])('a page that skips %i with limit %i has its places and says whether more follow', (skip, limit, places, more) => {
  expect(pageOf(skip, limit)).toMatchObject({ places, more });
});

it('only files on the page are read', () => {
  expect(pageOf(0, 2).reads).toEqual(['a.ts']);
  expect(pageOf(4, 2).reads).toEqual(['c.ts']);
});

it('two spellings of a path are shown as one file', () => {
  const both = new ParsedLocations([at('a%2Ets', 1), at('a.ts', 1), at('a.ts', 3)]);
  const { items } = placesOn({ skip: 0, limit: 10 }, '/workspace', both, () => []);
  expect(items).toMatchObject([{ path: 'a.ts', places: [[2], [4]].map((one) => expect.arrayContaining(one)) }]);
});
