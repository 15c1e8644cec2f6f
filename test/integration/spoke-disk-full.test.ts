/** Writes of the hub on a full disk: a clear error, and nothing half-written. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeFile } from '../../src/noun/hub/inside/file/file.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'carrel-full-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'carrel-full', root]);
  writeFileSync(join(root, 'a.txt'), 'before');
});
afterEach(() => {
  execFileSync('umount', [root]);
  rmSync(root, { recursive: true });
});

it.each(['a.txt', 'new.txt'])('%s: refuses content that does not fit, and changes nothing', (path) => {
  const content = { encoding: 'utf-8', content: 'x'.repeat(200_000) } as const;
  expect(() => writeFile(root, { path, content, isNew: false, dryRun: false })).toThrow(
    expect.objectContaining({ code: 'exhausted', message: expect.stringContaining('no space left') }),
  );
  expect(readdirSync(root)).toEqual(['a.txt']);
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('before');
});
