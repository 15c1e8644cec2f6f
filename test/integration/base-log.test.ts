/** A crash while a base log is being rewritten. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { BaseLogWriter, readBaseLog } from '../../src/noun/workspace/change/base/base-log.ts';
import { compactBaseLog } from '../../src/noun/workspace/change/base/compact.ts';
import type { WorkspacePlace } from '../../src/noun/workspace/workspace.ts';

let place: WorkspacePlace;
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-base-log-'));
  place = { kind: 'overlay', project: '/p', base: '/p', live: true, marks: 'trusted', folder };
});
afterEach(() => rmSync(place.folder, { recursive: true }));

function said() {
  const { records, lookedNs } = readBaseLog(place);
  return { lookedNs, records: [...records].map(([path, { sha256, origin }]) => [path, sha256, origin]) };
}

it.each(['written', 'replaced'])('a crash once the new log is %s leaves one of the two logs, complete', (point) => {
  for (let n = 0; n < 30; n += 1) {
    const writer = new BaseLogWriter(readBaseLog(place));
    writer.record('a', { origin: 'project', entry: null, identity: null, content: Buffer.alloc(100_000, `${n}`) });
    writer.noteObserved(BigInt(n));
    writer.close();
  }
  const before = said();
  const module = (name: string) => JSON.stringify(join(process.cwd(), `dist/noun/workspace/change/base/${name}.js`));
  const script = `import { readBaseLog } from ${module('base-log')}; import { compactBaseLog } from ${module('compact')};
    compactBaseLog(readBaseLog(${JSON.stringify(place)}));`;
  const env = { ...process.env, CARREL_CRASH_AT: `base-log:${point}` };
  const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { env });
  expect(signal).toBe('SIGKILL');
  expect(said()).toEqual(before);
  expect(compactBaseLog(readBaseLog(place))).toBe(point === 'written');
  expect(said()).toEqual(before);
  expect(statSync(join(place.folder, 'base.log')).size).toBeLessThan(200_000);
});
