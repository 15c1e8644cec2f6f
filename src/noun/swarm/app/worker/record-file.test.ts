import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { maxOutcomeBytes, type Outcome } from '../../model/outcome.ts';
import { readRecord } from './record-file.ts';

const outcome: Outcome = {
  ...{ version: '1.0', swarmId: '00000000-0000-4000-8000-000000000000', taskFilePath: 'a.json', branchName: 'b' },
  ...{ base: null, tip: null, landing: null, stories: {}, completion: null },
};

let state: string;
let file: string;

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'carrel-record-'));
  mkdirSync(join(state, 'data/carrel'), { recursive: true });
  file = join(state, 'data/carrel/outcome.json');
});
afterEach(() => rmSync(state, { recursive: true }));

test('a record is read, and has a digest', () => {
  writeFileSync(file, JSON.stringify(outcome));
  expect(readRecord(state)).toEqual({ outcome, digest: expect.stringMatching(/^[0-9a-f]{16}$/) });
});

test('a link, a file that is too large and a file with other content are not read as a record', () => {
  expect(readRecord(state)).toBeNull();
  const elsewhere = join(state, 'elsewhere.json');
  writeFileSync(elsewhere, JSON.stringify(outcome));
  symlinkSync(elsewhere, file);
  expect(readRecord(state)).toBeNull();
  rmSync(file);
  writeFileSync(file, `${JSON.stringify(outcome)}${' '.repeat(maxOutcomeBytes)}`);
  expect(readRecord(state)).toBeNull();
  writeFileSync(file, '{}');
  expect(readRecord(state)).toBeNull();
});

test('a record in a folder that is a link is not read', () => {
  const folder = join(state, 'elsewhere');
  mkdirSync(folder);
  writeFileSync(join(folder, 'outcome.json'), JSON.stringify(outcome));
  rmSync(join(state, 'data/carrel'), { recursive: true });
  symlinkSync(folder, join(state, 'data/carrel'));
  expect(readRecord(state)).toBeNull();
});
