import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { NoteFile } from './note-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-notes-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const path = () => join(folder, 'notes');
const lines = () => readFileSync(path(), 'utf8').split('\n').filter(Boolean);

it('a note file allocates its space at the start, and keeps it when it is cleared', () => {
  const notes = new NoteFile(path(), 4096);
  notes.append('one\n');
  notes.append('two\n');
  expect(lines()).toEqual(['one', 'two']);
  notes.clear();
  expect([lines(), notes.size, statSync(path()).size]).toEqual([[], 0, 4096]);
  notes.append('three\n');
  expect([lines(), statSync(path()).size]).toEqual([['three'], 4096]);
  notes.close();
});

it('a note file continues after the lines of an earlier process', () => {
  const earlier = new NoteFile(path(), 4096);
  earlier.append('one\n');
  earlier.close();
  const notes = new NoteFile(path(), 4096);
  expect(notes.size).toBe(4);
  notes.append('two\n');
  expect(lines()).toEqual(['one', 'two']);
  notes.close();
});
