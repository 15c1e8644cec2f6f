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

test('what a write of a process with our number left is no obstacle to the next', () => {
  const path = join(folder, 'record');
  writeFileSync(`${path}.${process.pid}.tmp`, 'half of');
  writeWhole(path, 'all of it');
  expect(readFileSync(path, 'utf8')).toBe('all of it');
  expect(readdirSync(folder)).toEqual(['record']);
});

test('a name that is taken is left alone, and nothing else is there afterwards', () => {
  const path = join(folder, 'record');
  writeNew(path, 'first');
  expect(() => writeNew(path, 'second')).toThrow('EEXIST');
  expect(readFileSync(path, 'utf8')).toBe('first');
  expect(readdirSync(folder)).toEqual(['record']);
});
