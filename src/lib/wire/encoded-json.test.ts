import { expect, it } from 'vitest';
import { EncodedJson, jsonPieces } from './encoded-json.ts';

const encoded = (value: unknown) => new EncodedJson(new TextEncoder().encode(JSON.stringify(value)));

it('encoded JSON is inserted in place of its value', () => {
  const list = [{ path: 'ä"' }, { path: 'b' }];
  const pieces = jsonPieces({ first: null, list: encoded(list), absent: undefined, last: { a: 1 } })!;
  expect(JSON.parse(Buffer.concat(pieces).toString('utf8'))).toEqual({ first: null, list, last: { a: 1 } });
  expect(Buffer.concat(jsonPieces({ list: encoded([]) })!).toString('utf8')).toBe('{"list":[]}');
});

it('an answer without encoded JSON at its top level gives null', () => {
  expect(jsonPieces({ a: 1 })).toBeNull();
  expect(jsonPieces([1])).toBeNull();
});
