import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Documents } from './documents.ts';

let root: string;
let reads: string[];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'carrel-documents-'));
  reads = [];
  write('a', '1');
});
afterEach(() => rmSync(root, { recursive: true }));

function write(path: string, text: string): void {
  writeFileSync(join(root, path), text);
  utimesSync(join(root, path), 1, 1);
}

function open(isWatched = true): Documents {
  const read = (path: string) => {
    reads.push(path);
    return { path, text: readFileSync(join(root, path), 'utf8'), hash: '' };
  };
  return new Documents(root, read, () => isWatched);
}

it('Documents reads a file once until it changes', () => {
  const documents = open();
  expect([documents.read('a').text, documents.read('a').text]).toEqual(['1', '1']);
  expect(reads).toEqual(['a']);
  write('a', '23');
  expect(documents.read('a').text).toBe('23');
});

it('Documents reads a file again after it was reported as changed, even if its time and size are the same', () => {
  const documents = open();
  documents.read('a');
  documents.drop(['a']);
  documents.read('a');
  expect(reads).toEqual(['a', 'a']);
});

it('Documents reads a file each time if its changes are not reported', () => {
  const documents = open(false);
  documents.read('a');
  documents.read('a');
  expect(reads).toEqual(['a', 'a']);
});
