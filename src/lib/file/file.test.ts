import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeNew, writeWhole } from './file.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-file-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

test('a leftover of a crashed process with the same pid does not stop a write', () => {
  const path = join(folder, 'record');
  writeFileSync(`${path}.${process.pid}.tmp`, 'half of');
  writeWhole(path, 'all of it');
  expect(readFileSync(path, 'utf8')).toBe('all of it');
  expect(readdirSync(folder)).toEqual(['record']);
});

test('writeNew leaves an existing file alone, and leaves no temporary file', () => {
  const path = join(folder, 'record');
  writeNew(path, 'first');
  expect(() => writeNew(path, 'second')).toThrow('EEXIST');
  expect(readFileSync(path, 'utf8')).toBe('first');
  expect(readdirSync(folder)).toEqual(['record']);
});
