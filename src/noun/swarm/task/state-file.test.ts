import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeStateFile } from './state-file.ts';

const state = JSON.stringify({ swarmId: 's', containers: [] });
const later = JSON.stringify({ swarmId: 's', containers: [], updatedAt: 'later' });
let project: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'carrel-state-'));
  mkdirSync(join(project, '.aimi'));
});
afterEach(() => rmSync(project, { recursive: true }));

const path = '.aimi/swarm-state.json';
const read = () => readFileSync(join(project, path), 'utf8');

test('a state file is written whole each time, and no other file is left', () => {
  writeStateFile(project, path, state);
  writeStateFile(project, path, later);
  expect(read()).toBe(later);
  expect(readdirSync(join(project, '.aimi'))).toEqual(['swarm-state.json']);
});

test('a file that is not a state file is not replaced', () => {
  writeFileSync(join(project, 'package.json'), '{"name":"mine"}');
  expect(() => writeStateFile(project, 'package.json', state)).toThrow(expect.objectContaining({ code: 'conflict' }));
  expect(readFileSync(join(project, 'package.json'), 'utf8')).toBe('{"name":"mine"}');
});

test('a link is followed in no component of the path', () => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'carrel-elsewhere-'));
  writeFileSync(join(elsewhere, 'swarm-state.json'), '');
  symlinkSync(elsewhere, join(project, 'link'));
  symlinkSync(join(elsewhere, 'swarm-state.json'), join(project, path));
  for (const one of ['link/swarm-state.json', path])
    expect(() => writeStateFile(project, one, state)).toThrow(expect.objectContaining({ code: 'denied' }));
  expect(() => writeStateFile(project, 'nowhere/x.json', state)).toThrow(
    expect.objectContaining({ code: 'not_found' }),
  );
  expect([readdirSync(elsewhere), readFileSync(join(elsewhere, 'swarm-state.json'), 'utf8')]).toEqual([
    ['swarm-state.json'],
    '',
  ]);
  rmSync(elsewhere, { recursive: true });
});
