import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Fault } from '../../../model/fault.ts';
import { installedAt } from '../../../noun/memory/app/packages.ts';
import { packageFolderName } from '../../../noun/memory/model/package.ts';
import { type PlanParts, planOf } from './plan.ts';

let home: string;
let parts: PlanParts;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'carrel-plan-'));
  const volumes = { pathOf: (name: string) => join(home, name), init: vi.fn() };
  parts = {
    ...{ folder: '/f', headers: () => ({ key: 'k' }), volume: 'v', owner: 'ann', volumes, now: () => 'now' },
    installed: () => installedAt(home, 'chroma'),
  };
});
afterEach(() => rmSync(home, { recursive: true }));

const remote = { kind: 'remote', url: 'https://chroma.example.org', credential: 'key' } as const;

test('a remote server gets the headers of the credential, and is not used without them', () => {
  expect(planOf(null, parts)).toBeNull();
  expect(planOf(remote, parts)).toEqual({ kind: 'remote', url: remote.url, headers: { key: 'k' } });
  const headers = () => {
    throw new Fault('denied', 'the credential key is not for it');
  };
  expect(planOf(remote, { ...parts, headers })).toBe('the credential key is not for it');
});

test('a local server has to be installed; the folder for its data is made if it is missing', () => {
  expect(planOf({ kind: 'local' }, parts)).toBe('it is not installed');
  mkdirSync(join(home, 'packages', packageFolderName('chroma'), 'node_modules'), { recursive: true });
  expect(planOf({ kind: 'local' }, parts)).toMatchObject({ kind: 'local', data: join(home, 'v'), folder: '/f' });
  expect(parts.volumes.init).toHaveBeenCalledWith('ann', 'now');
  mkdirSync(join(home, 'v'));
  planOf({ kind: 'local' }, parts);
  expect(parts.volumes.init).toHaveBeenCalledTimes(1);
});
