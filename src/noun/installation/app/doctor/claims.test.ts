import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeEngine } from '../../../../../test/fakes/engine/engine.ts';
import { createMemoryStore } from '../../../../../test/fakes/store/memory.ts';
import { homeVolume } from '../../../../../test/fixtures/places.ts';
import { claimIds } from '../../../../kernel/engine/local/probe/claims.ts';
import { type Home, openHome } from '../../../../kernel/home/home.ts';
import { Fault } from '../../../../model/fault.ts';
import { leftBehindRow } from '../../../sandbox/app/leftovers.ts';
import type { Sandboxes } from '../../../sandbox/sandbox.ts';
import { copyVerdict, privacyRow, proveClaims } from './claims.ts';

describe('if no sandbox can be started,', () => {
  let folder: string;
  let home: Home;
  const tried: unknown[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'doctor-'));
    home = openHome(join(folder, 'home'), false, homeVolume);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function rowsWhere(fault: Fault) {
    const create = async (request: { limits?: unknown }) => {
      tried.push(request.limits);
      throw fault;
    };
    const sandboxes = { create } as unknown as Sandboxes;
    return proveClaims({
      engine: createFakeEngine(),
      store: createMemoryStore(),
      sandboxes,
      home,
      explained: async ({ code, message, hint = '' }) => new Fault(code, message, { hint: `${hint} (explained)` }),
    });
  }

  it('the first row has the reason, and only the claim about the home is proved', async () => {
    const fault = new Fault('unsupported', 'no runtime: crun or runc is not installed', { hint: 'Install crun.' });
    const rows = await rowsWhere(fault);
    const [first, ...claims] = rows;
    expect(first).toEqual({
      name: 'sandbox',
      level: 'failure',
      detail: fault.message,
      hint: 'Install crun. (explained)',
    });
    expect(claims.map(({ name }) => name)).toEqual(claimIds);
    for (const row of claims.filter(({ name }) => name !== 'home')) {
      expect(row).toMatchObject({ level: 'failure', detail: 'not proved: no sandbox could be started' });
    }
    expect(claims.at(-1)).toMatchObject({ name: 'home', level: 'ok' });
  });

  it('fewer limits are requested after each refusal as unsupported, but not after another error', async () => {
    tried.length = 0;
    await rowsWhere(new Fault('unsupported', 'x'));
    const memoryBytes = 128 * 1024 ** 2;
    const all = { cpus: 1, memoryBytes, pids: 96 };
    expect(tried).toEqual([{ ...all, swapBytes: memoryBytes }, all, { pids: 96 }, undefined]);
    tried.length = 0;
    await rowsWhere(new Fault('unavailable', 'x'));
    expect(tried).toHaveLength(1);
  });
});

it('the removal succeeds if the remains of the sandbox end a moment after it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'doctor-'));
  const id = 'fedcba9876543210';
  const lists = [[id], [id], []];
  const engine = { ...createFakeEngine(), probe: async () => [], list: async () => lists.shift() ?? [] };
  const sandboxes = { create: async () => ({ id, name: 'trial' }), remove: async () => {} } as unknown as Sandboxes;
  const home = openHome(join(folder, 'home'), false, homeVolume);
  const parts = {
    store: createMemoryStore(),
    sandboxes,
    home,
    explained: async (fault: Fault) => fault,
  };
  const rows = await proveClaims({ engine, ...parts });
  expect(rows.find(({ name }) => name === 'removal')).toMatchObject({ level: 'ok' });
  rmSync(folder, { recursive: true });
});

describe('the verdict on copies', () => {
  const safe = { known: 'file', file: 'link', folder: 'link', pushed: 'absent' } as const;

  it.each([
    [safe, 'ok', 'not followed'],
    [{ ...safe, file: 'absent', folder: 'absent' } as const, 'ok', 'not followed'],
    [{ ...safe, file: 'file' } as const, 'failure', 'out of'],
    [{ ...safe, folder: 'folder' } as const, 'failure', 'out of'],
    [{ ...safe, pushed: 'file' } as const, 'failure', 'into'],
    [{ ...safe, known: 'absent' } as const, 'failure', 'not proved'],
  ])('for %j is %s', (kinds, level, detail) => {
    expect(copyVerdict(kinds)).toMatchObject({ level, detail: expect.stringContaining(detail) });
  });
});

describe('the row for the privacy of the home', () => {
  const closed = { path: '/h', mode: 0o700, isOwn: true };

  it.each([
    [[closed, { path: '/h/carrel.db', mode: 0o600, isOwn: true }], 'ok'],
    [[{ ...closed, mode: 0o755 }], 'failure'],
    [[closed, { path: '/h/carrel.sock', mode: 0o666, isOwn: true }], 'failure'],
    [[{ ...closed, isOwn: false }], 'failure'],
  ])('for %j is %s', (guarded, level) => {
    expect(privacyRow(guarded).level).toBe(level);
  });
});

describe('the row for leftovers', () => {
  it.each([
    [[], [], 'ok', 'none'],
    [['0123456789abcdef'], [], 'warning', 'of the engine: 0123456789abcdef'],
    [[], ['/h/sandboxes/x'], 'warning', 'folders: /h/sandboxes/x'],
  ])('for the sandboxes %j and the folders %j is %s', (things, folders, level, detail) => {
    expect(leftBehindRow(things, folders)).toMatchObject({ level, detail: expect.stringContaining(detail) });
  });
});
