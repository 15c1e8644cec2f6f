import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Anchor } from '../../lib/file/anchor.ts';
import { detect } from './detect.ts';
import { parseDockerfile } from './dockerfile/parse.ts';
import { recipeFrom } from './dockerfile/recipe.ts';

let folder: string;
let root: Anchor;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-detect-'));
  root = Anchor.open(folder);
});
afterEach(() => {
  root.close();
  rmSync(folder, { recursive: true });
});

function found(files: Readonly<Record<string, string>>) {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return detect(root, 'base');
}

const copied = (text: string) =>
  recipeFrom(parseDockerfile('D', Buffer.from(text)), { names: ['base'], id: 'sha256:1' }).files.flatMap(
    ({ patterns }) => patterns,
  );

it.each<[what: string, files: Record<string, string>, from: string[], copies: string[], runs: RegExp]>([
  [
    'npm',
    { 'package.json': '{}', 'package-lock.json': '{}' },
    ['package-lock.json'],
    ['package.json', 'package-lock.json'],
    /npm ci/,
  ],
  ['pip', { 'requirements.txt': 'a==1\n# -r b\n' }, ['requirements.txt'], ['requirements.txt'], /pip install .*-r/],
  [
    'cargo',
    { 'Cargo.toml': '', 'Cargo.lock': '' },
    ['Cargo.toml'],
    ['Cargo.toml', 'Cargo.lock'],
    /cargo fetch --locked/,
  ],
  ['cargo without a lock', { 'Cargo.toml': '' }, ['Cargo.toml'], [], /cargo rustc/],
  ['go', { 'go.mod': '', 'go.sum': '' }, ['go.mod'], ['go.mod', 'go.sum'], /go mod download/],
  ['go without sums', { 'go.mod': '' }, ['go.mod'], ['go.mod'], /go mod download/],
])('%s is detected, and only its files are copied', (_what, files, from, copies, runs) => {
  const detected = found(files)!;
  expect([detected.from, detected.notes]).toEqual([from, []]);
  expect(copied(detected.text)).toEqual(copies);
  expect(detected.text).toMatch(runs);
});

it('several package managers are combined', () => {
  const detected = found({ 'package.json': '{}', 'package-lock.json': '{}', 'requirements.txt': '', 'go.mod': '' })!;
  expect(detected.from).toEqual(['package-lock.json', 'requirements.txt', 'go.mod']);
});

it.each<[what: string, files: Record<string, string>, note: string]>([
  ['a lock alone', { 'package-lock.json': '{}' }, 'without package.json'],
  [
    'workspaces',
    { 'package.json': '{}', 'package-lock.json': '{"packages":{"":{},"packages/a":{}}}' },
    'of the project itself',
  ],
  ['requirements in other files', { 'requirements.txt': 'a\n-r dev.txt\n' }, '-r dev.txt'],
  ['the project as a requirement', { 'requirements.txt': '-e .\n' }, '-e .'],
])('%s is not used, and a note says so', (_what, files, note) => {
  expect(found(files)).toMatchObject({ from: [], notes: [expect.stringContaining(note)] });
});

it('nothing is detected in an empty project, nor behind links', () => {
  expect(found({})).toBeNull();
  symlinkSync('/etc/passwd', join(folder, 'requirements.txt'));
  expect(found({})).toBeNull();
});

it('an invalid lock file is refused', () => {
  expect(() => found({ 'package.json': '{}', 'package-lock.json': '{' })).toThrow('package-lock.json is not JSON');
});
