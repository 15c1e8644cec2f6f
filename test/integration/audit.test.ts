import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isRealRoot } from '../harness/machine.ts';

it.runIf(isRealRoot)('on a full disk the audit log uses reserved space, then only acts that free space begin', () => {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-audit-'));
  const fixture = 'test/fixtures/audit-full.mjs';
  try {
    const said = execFileSync('unshare', ['--map-root-user', '--mount', process.execPath, fixture, folder]);
    expect(JSON.parse(said.toString())).toEqual({
      refused: 'exhausted',
      freed: 'ok',
      writtenWhileFull: true,
      reported: true,
      whole: true,
      inOrder: true,
      missing: [],
      refusedIsLogged: false,
      unfinished: '',
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
