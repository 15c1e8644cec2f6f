/** Volumes as folders: owners, mounts, removal, and migration from older names. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Anchor, within } from '../../src/lib/file/anchor.ts';
import { asFault } from '../../src/model/fault.ts';
import type { Migrated } from '../../src/noun/volume/migration.ts';
import { userHash } from '../../src/noun/volume/model.ts';
import { findOldVolumes, findUnknown } from '../../src/noun/volume/old-volume.ts';
import type { VolumeActor } from '../../src/noun/volume/volume.ts';
import { codeOf } from '../conformance/engine/trial.ts';
import { fingerprint } from '../fixtures/layers.ts';
import { ada, at, bob, plantDeep, plantGoods, plantSpecial, VolumeBench } from '../fixtures/volume-bench.ts';

let bench: VolumeBench;
beforeEach(() => {
  bench = new VolumeBench();
});
afterEach(() => bench.dispose());

function faultOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return asFault(error).code;
  }
  return 'none';
}

const [homeA, homeB] = [`carrel-home-${userHash('ada')}`, `carrel-home-${userHash('bob')}`];

describe('init', () => {
  it('makes the volumes of a user and the shared ones, once', () => {
    const made = bench.volumes.init('ada', at);
    expect(made.map(({ type }) => type)).toEqual(
      'home memory-bank tmux-sockets coordinator-state session chromadb base-plugins'.split(' '),
    );
    expect(made.map(({ user }) => user)).toEqual([...Array(5).fill('ada'), null, null]);
    for (const { name } of made) expect(statSync(bench.volumes.pathOf(name)).mode & 0o777).toBe(0o700);
    bench.write('kept', 'kept');
    expect(bench.volumes.init('ada', '2026-01-01T00:00:00.000Z')).toEqual(made);
    expect(bench.records.events).toEqual(Array(7).fill('volume.created'));
    expect(readdirSync(bench.home())).toEqual(['kept']);
  });

  it('makes a folder again that was removed by hand', () => {
    bench.volumes.init('ada', at);
    rmSync(bench.home(), { recursive: true });
    bench.volumes.init('ada', at);
    expect(existsSync(bench.home())).toBe(true);
  });

  it('refuses the volume of another user with the same hash', () => {
    const [home] = bench.volumes.init('ada', at);
    bench.records.put({ ...home!, user: 'eve' }, { at, type: 'test', subject: '', data: {} });
    expect(faultOf(() => bench.volumes.init('ada', at))).toBe('denied');
    expect(faultOf(() => bench.volumes.resolve('ada', { volume: 'home', target: '/x', readonly: false }))).toBe(
      'not_found',
    );
  });

  it.each(['link', 'file'])('refuses a %s in the place of a folder', (kind) => {
    if (kind === 'link') symlinkSync(bench.old, bench.home());
    else writeFileSync(bench.home(), '');
    expect(faultOf(() => bench.volumes.init('ada', at))).toBe('denied');
    expect(bench.records.list()).toEqual([]);
  });

  it('uses another prefix for names on request', () => {
    expect(bench.open('lab').init('ada', at)[0]!.name).toBe(`lab-home-${userHash('ada')}`);
  });
});

describe('a user', () => {
  beforeEach(() => {
    for (const user of ['ada', 'bob']) bench.volumes.init(user, at);
  });

  it('sees own and shared volumes; the owner sees all', () => {
    expect(bench.volumes.list(bob).length).toBe(7);
    expect(bench.volumes.list(ada).length).toBe(7);
    expect(bench.volumes.list(ada, true).length).toBe(12);
    expect(faultOf(() => bench.volumes.list(bob, true))).toBe('denied');
    expect(faultOf(() => bench.volumes.find(bob, homeA))).toBe('not_found');
    expect(bench.volumes.find(ada, homeB).user).toBe('bob');
  });

  it('cannot mount a volume of another user, nor can the owner of the installation', () => {
    const ask = (volume: string, readonly = false) => ({ volume, target: '/x', readonly });
    expect(bench.volumes.resolve('bob', ask('home'))).toMatchObject({ source: bench.home('bob'), readonly: false });
    expect(bench.volumes.resolve('bob', ask(homeB, true)).readonly).toBe(true);
    expect(bench.volumes.resolve('bob', ask('base-plugins')).readonly).toBe(true);
    expect(bench.volumes.resolve('bob', ask('carrel-base-plugins')).readonly).toBe(true);
    expect(faultOf(() => bench.volumes.resolve('bob', ask(homeA)))).toBe('not_found');
    expect(faultOf(() => bench.volumes.resolve('ada', ask(homeB)))).toBe('not_found');
    expect(faultOf(() => bench.volumes.resolve('bob', ask('chromadb')))).toBe('denied');
    for (const name of ['..', '../records.json', '.new-x', 'constructor', '']) {
      expect(faultOf(() => bench.volumes.resolve('bob', ask(name)))).toBe('not_found');
    }
  });

  it('cannot change volumes of other users, and can change shared ones only as the owner', async () => {
    const { volumes, file, old } = bench;
    expect(await codeOf(act(() => volumes.backup(bob, homeA, file, at)))).toBe('not_found');
    expect(await codeOf(act(() => volumes.clean(bob, [homeA], false, at)))).toBe('not_found');
    for (const type of ['base-plugins', 'chromadb'] as const) {
      expect(await codeOf(act(() => volumes.backup(bob, type, file, at)))).toBe('denied');
      expect(await codeOf(act(() => volumes.clean(bob, [type], false, at)))).toBe('denied');
      expect(await codeOf(act(() => volumes.fill(bob, type, old, at)))).toBe('denied');
    }
    bench.write('plugin', 'new', old);
    await volumes.fill(ada, 'base-plugins', old, at);
    expect(readdirSync(join(bench.folder, 'carrel-base-plugins'))).toEqual(['plugin']);
    expect(bench.litter()).toEqual([]);
  });

  it('can read the size, the use and the age of a volume', async () => {
    plantSpecial(bench.home());
    writeFileSync(join(bench.home(), 'big'), Buffer.alloc(3_000_000, 1));
    symlinkSync('/usr', join(bench.home(), 'link'));
    const later = (days: number) => new Date(Date.parse(at) + days * 86_400_000).toISOString();
    const status = await bench.volumes.status(ada, 'home', later(31), 30);
    expect(status).toMatchObject({ name: homeA, user: 'ada', mountedBy: [], lastUsedAt: null, staleDays: 31 });
    expect(status.sizeBytes).toBeGreaterThan(3_000_000);
    expect(status.sizeBytes).toBeLessThan(4_000_000);
    bench.volumes.touch(homeA, later(10));
    expect(await bench.volumes.status(ada, 'home', later(31), 30)).toMatchObject({
      staleDays: null,
      lastUsedAt: later(10),
    });
    bench.mounted.add(homeA);
    expect(await bench.volumes.status(ada, 'home', later(99), 30)).toMatchObject({
      staleDays: null,
      mountedBy: ['box'],
    });
    execFileSync('rm', ['-rf', bench.home()]);
    expect((await bench.volumes.status(ada, 'home', at, 30)).sizeBytes).toBeNull();
  });
});

/** Makes a call that throws synchronously reject instead. */
async function act<T>(work: () => Promise<T>): Promise<T> {
  return work();
}

describe('clean', () => {
  beforeEach(() => {
    for (const user of ['ada', 'bob']) bench.volumes.init(user, at);
    plantGoods(bench.home());
    plantSpecial(bench.home());
  });

  it('removes a volume after a backup', async () => {
    const before = fingerprint(join(bench.home(), 'deep'));
    const [cleaned] = await bench.volumes.clean(ada, ['home'], true, at);
    expect(cleaned).toMatchObject({ name: homeA, kept: null });
    expect(cleaned!.backup!.notes.join('\n')).toMatch(/socket/);
    expect([existsSync(bench.home()), bench.records.get(homeA), bench.litter()]).toEqual([false, null, []]);
    await bench.volumes.restore(ada, cleaned!.backup!.file, at);
    expect(fingerprint(join(bench.home(), 'deep'))).toEqual(before);
  });

  it('makes no backup if none is requested', async () => {
    expect(await bench.volumes.clean(ada, ['home', homeB], false, at)).toEqual([
      { name: homeA, backup: null, kept: null },
      { name: homeB, backup: null, kept: null },
    ]);
    expect(readdirSync(bench.backups)).toEqual([]);
  });

  it('keeps a volume that is in use, even one that is mounted while its backup is made', async () => {
    bench.mounted.add(homeA);
    expect(await codeOf(bench.volumes.clean(ada, [homeB, 'home'], false, at))).toBe('conflict');
    expect(bench.records.get(homeB)).not.toBeNull();
    bench.mounted.delete(homeA);
    bench.mountAfterCalls(1);
    expect(await bench.volumes.clean(ada, ['home'], true, at)).toMatchObject([
      { backup: { file: expect.any(String) }, kept: expect.stringMatching(/in use by box/) },
    ]);
    expect(readFileSync(join(bench.home(), 'file'), 'utf8')).toBe('content\n');
  });

  it('keeps a volume that it cannot back up', async () => {
    const [first] = await bench.volumes.clean(ada, ['home'], true, at);
    bench.volumes.init('ada', at);
    bench.write('again', 'again');
    expect(await bench.volumes.clean(ada, ['home'], true, at)).toMatchObject([
      { backup: null, kept: /exists already/ },
    ]);
    expect(readdirSync(bench.home())).toEqual(['again']);
    expect(existsSync(first!.backup!.file)).toBe(true);
  });
});

describe('migrate', () => {
  const hash = userHash('ada');
  const outcomes = (all: readonly Migrated[]) => all.map(({ from, outcome }) => `${from.name}: ${outcome}`).sort();
  const migrate = (actor: VolumeActor = ada) => bench.volumes.migrate(actor, findOldVolumes(bench.old, 'carrel'), at);

  it('copies everything once, and leaves the old volumes as they are', async () => {
    const names = [
      `hal9000-memory-bank-${hash}`,
      `hal9000-claude-session-${hash}`,
      'hal9000-chromadb',
      'carrel-tmux-sockets',
    ];
    for (const name of [...names, 'hal9000-base-plugins']) bench.write('a', name, join(bench.old, name));
    plantGoods(join(bench.old, names[0]!));
    plantDeep(join(bench.old, names[0]!), 'd'.repeat(200), 30);
    const before = fingerprint(join(bench.old, names[0]!, 'deep'));
    expect(outcomes(await migrate())).toEqual(
      [...names, 'hal9000-base-plugins'].map((name) => `${name}: migrated`).sort(),
    );
    const bank = join(bench.folder, `carrel-memory-bank-${hash}`);
    expect(fingerprint(join(bank, 'deep'))).toEqual(before);
    expect(statSync(join(bank, 'file')).nlink).toBe(2);
    expect(statSync(bank).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(bench.folder, 'carrel-base-plugins/a'), 'utf8')).toBe('hal9000-base-plugins');
    expect(bench.records.get(`carrel-session-${hash}`)?.migratedFrom).toEqual({
      name: `hal9000-claude-session-${hash}`,
      folder: join(bench.old, `hal9000-claude-session-${hash}`),
      at,
    });
    expect(outcomes(await migrate())).toEqual(
      [...names, 'hal9000-base-plugins'].map((name) => `${name}: already`).sort(),
    );
    expect(fingerprint(join(bench.old, names[0]!, 'deep'))).toEqual(before);
    expect(bench.litter()).toEqual([]);
  });

  it('finds the volumes of Docker, and puts the content of a volume for .claude into .claude', async () => {
    const data = join(bench.old, `hal9000-claude-home-${hash}`, '_data');
    bench.write('settings.json', '{}', data);
    chownSync(data, 1001, 1001);
    expect(outcomes(await migrate())).toEqual([`hal9000-claude-home-${hash}: migrated`]);
    expect(readdirSync(bench.home())).toEqual(['.claude']);
    expect(readdirSync(join(bench.home(), '.claude'))).toEqual(['settings.json']);
    expect([statSync(bench.home()).uid, statSync(join(bench.home(), '.claude')).uid]).toEqual([0, 0]);
  });

  it('finds every volume that HAL-9000 made, and reports those that it leaves', async () => {
    const known = ['hal9000-memorybank', 'hal9000-claude-my-worker', 'hal9000-claude-worker-1234567890'];
    for (const name of [...known, 'hal9000-other', 'hal9000-chromadb-a1b2c3d4'])
      bench.write('a', name, join(bench.old, name));
    writeFileSync(join(bench.old, known[1]!, 'opts.json'), 'a file of the worker');
    mkdirSync(join(bench.old, 'hal9000-claude-docked/_data'), { recursive: true });
    writeFileSync(join(bench.old, 'hal9000-claude-docked/opts.json'), '{}');
    writeFileSync(join(bench.old, 'hal9000-claude-docked/_data/settings.json'), '{}');
    symlinkSync('/etc', join(bench.old, 'hal9000-claude-link'));
    expect(outcomes(await migrate())).toEqual(
      ['hal9000-claude-docked', ...known].map((name) => `${name}: migrated`).sort(),
    );
    const contentOf = (name: string) => readdirSync(join(bench.folder, name)).sort();
    expect(contentOf(`carrel-memory-bank-${hash}`)).toEqual(['a']);
    expect(contentOf(`carrel-named-${hash}-claude-my-worker`)).toEqual(['a', 'opts.json']);
    expect(contentOf(`carrel-named-${hash}-claude-docked`)).toEqual(['settings.json']);
    expect(bench.volumes.find(ada, 'claude-worker-1234567890')).toMatchObject({ type: 'named', user: 'ada' });
    expect(findUnknown(bench.old, 'carrel')).toEqual(
      expect.arrayContaining([
        { name: 'hal9000-other', reason: expect.any(String) },
        { name: 'hal9000-chromadb-a1b2c3d4', reason: expect.any(String) },
        { name: 'hal9000-claude-link', reason: 'it is not a folder' },
      ]),
    );
    expect(findUnknown(bench.old, 'carrel')).toHaveLength(3);
  });

  it('gives each user their own volumes only, and shared ones to the owner alone', async () => {
    const old = [`hal9000-memory-bank-${hash}`, 'hal9000-memory-bank', 'hal9000-chromadb', 'carrel-home'];
    for (const name of old) bench.write('a', 'a', join(bench.old, name));
    expect(await migrate(bob)).toEqual([]);
    expect(outcomes(await migrate())).toEqual([
      'carrel-home: migrated',
      'hal9000-chromadb: migrated',
      `hal9000-memory-bank-${hash}: migrated`,
      'hal9000-memory-bank: conflict',
    ]);
  });

  it('leaves a volume alone that has content or is in use, and follows no link', async () => {
    for (const name of ['carrel-home', 'carrel-session']) bench.write('a', 'old', join(bench.old, name));
    symlinkSync('/etc', join(bench.old, 'carrel-memory-bank'));
    bench.volumes.init('ada', at);
    bench.write('mine', 'mine');
    bench.mounted.add(`carrel-session-${userHash('ada')}`);
    const migrated = await migrate();
    expect(outcomes(migrated)).toEqual(['carrel-home: conflict', 'carrel-session: conflict']);
    expect(migrated.map(({ reason }) => reason).sort()).toMatchObject([/has content/, /in use by box/]);
    expect(readdirSync(bench.home())).toEqual(['mine']);
    expect(bench.records.get(homeA)?.migratedFrom).toBeNull();
    expect(faultOf(() => findOldVolumes(join(bench.old, 'carrel-memory-bank'), 'carrel'))).toBe('not_found');
  });

  it('continues with the others if one fails', async () => {
    for (const name of ['carrel-home', 'carrel-session']) bench.write('a', 'old', join(bench.old, name));
    const found = findOldVolumes(bench.old, 'carrel');
    rmSync(join(bench.old, 'carrel-home'), { recursive: true });
    mkdirSync(join(bench.root, 'elsewhere'));
    symlinkSync(join(bench.root, 'elsewhere'), join(bench.old, 'carrel-home'));
    expect(outcomes(await bench.volumes.migrate(ada, found, at))).toEqual([
      'carrel-home: failed',
      'carrel-session: migrated',
    ]);
    expect(bench.litter()).toEqual([]);
  });
});

describe('a named volume', () => {
  it('is made by its user alone, under a name that is no type, and found by that name', () => {
    const made = bench.volumes.create('ada', 'cache', at);
    expect(made).toMatchObject({
      name: `carrel-named-${userHash('ada')}-cache`,
      type: 'named',
      label: 'cache',
      user: 'ada',
    });
    expect(faultOf(() => bench.volumes.create('ada', 'cache', at))).toBe('conflict');
    expect(bench.volumes.ensure('ada', ['cache'], at)).toEqual([made]);
    for (const bad of ['home', 'chromadb', 'carrel-x', 'A', '-a', 'a/b', '', 'a'.repeat(64)])
      expect([bad, faultOf(() => bench.volumes.create('ada', bad, at))]).toEqual([bad, 'invalid']);
    const request = { volume: 'cache', target: '/c', readonly: false };
    expect(bench.volumes.resolve('ada', request).volume).toEqual(made);
    for (const asked of ['cache', made.name])
      expect(faultOf(() => bench.volumes.resolve('bob', { ...request, volume: asked }))).toBe('not_found');
    expect(bench.volumes.create('bob', 'cache', at).name).not.toBe(made.name);
    expect(faultOf(() => bench.volumes.resolve('ada', { ...request, volume: 'cahce' }))).toBe('not_found');
  });

  it('is refused if its user has a hundred', () => {
    for (let count = 0; count < 100; count++) bench.volumes.create('ada', `v${count}`, at);
    expect(faultOf(() => bench.volumes.create('ada', 'more', at))).toBe('exhausted');
    bench.volumes.create('bob', 'more', at);
  });

  it('is backed up, removed and made again by a restore', async () => {
    const { name } = bench.volumes.create('ada', 'cache', at);
    bench.write('a', 'kept', bench.volumes.pathOf(name));
    const [cleaned] = await bench.volumes.clean(ada, ['cache'], true, at);
    expect(bench.records.get(name)).toBeNull();
    const file = cleaned!.backup!.file;
    expect(await bench.volumes.backups(ada)).toMatchObject([{ type: 'named', label: 'cache', owner: 'ada', file }]);
    expect(await codeOf(bench.volumes.restore(bob, file, at))).toBe('denied');
    await bench.volumes.restore(ada, file, at);
    expect(readFileSync(join(bench.volumes.pathOf(name), 'a'), 'utf8')).toBe('kept');
    expect(bench.volumes.find(ada, 'cache')).toMatchObject({ name, label: 'cache' });
  });
});

describe('a backup', () => {
  it('is removed by its user and the owner, and nothing else is', async () => {
    for (const user of ['ada', 'bob']) bench.volumes.init(user, at);
    const fileOf = (name: string) => join(bench.backups, `${name}.tar`);
    await bench.volumes.backup(ada, 'home', fileOf('ada'), at);
    for (const name of ['bob', 'bob2']) await bench.volumes.backup(bob, 'home', fileOf(name), at);
    await bench.volumes.backup(ada, 'home', bench.file, at);
    writeFileSync(fileOf('damaged'), 'damaged');
    const others = [
      fileOf('ada'),
      'ada.tar',
      fileOf('damaged'),
      bench.file,
      '../records.json',
      join(bench.backups, '../backup.tar'),
    ];
    for (const file of others)
      expect([file, await codeOf(bench.volumes.removeBackup(bob, file))]).toEqual([file, 'not_found']);
    expect(await codeOf(bench.volumes.removeBackup(ada, bench.file))).toBe('not_found');
    expect(readdirSync(bench.backups)).toHaveLength(4);
    expect(await bench.volumes.removeBackup(bob, 'bob.tar')).toBe(fileOf('bob'));
    for (const file of [fileOf('bob2'), 'ada.tar', 'damaged.tar']) await bench.volumes.removeBackup(ada, file);
    expect(readdirSync(bench.backups)).toEqual([]);
    expect(existsSync(bench.file)).toBe(true);
  });
});

describe('a volume on disk', () => {
  const [agent, other] = [4321, 1234];
  const owners = (...names: string[]) => names.map((name) => lstatSync(join(bench.home(), name)).uid);

  it('belongs to agent if agents may write it, and to root if it is shared', () => {
    bench.agent = agent;
    bench.volumes.init('ada', at);
    const uids = bench.records.list().map(({ name, user }) => [user, statSync(bench.volumes.pathOf(name)).uid]);
    expect(uids).toEqual([...Array(5).fill(['ada', agent]), [null, 0], [null, 0]]);
  });

  it('gets agent as owner while it is empty, and keeps its owner once it has content', () => {
    bench.volumes.init('ada', at);
    bench.agent = agent;
    bench.write('mine', 'mine');
    bench.volumes.init('ada', at);
    expect(owners('.', 'mine')).toEqual([0, 0]);
    rmSync(join(bench.home(), 'mine'));
    bench.volumes.init('ada', at);
    expect(owners('.')).toEqual([agent]);
  });

  it('restores files as those of agent, with any ids in the archive, and follows no link out', async () => {
    bench.volumes.init('ada', at);
    const outside = join(bench.root, 'outside');
    writeFileSync(outside, 'not yours');
    bench.write('mine', 'mine');
    bench.write('theirs', 'theirs');
    chownSync(join(bench.home(), 'theirs'), 1000, other);
    chmodSync(join(bench.home(), 'theirs'), 0o6755);
    symlinkSync(outside, join(bench.home(), 'link'));
    await bench.volumes.backup(ada, 'home', bench.file, at);
    bench.agent = agent;
    await bench.volumes.restore(ada, bench.file, at);
    expect(owners('.', 'mine', 'link', 'theirs')).toEqual([agent, agent, agent, agent]);
    expect(statSync(join(bench.home(), 'theirs'))).toMatchObject({ gid: agent, mode: 0o100755 });
    expect(statSync(outside).uid).toBe(0);
  });

  it('a restore into a shared volume makes root the owner and drops set-user-id bits', async () => {
    bench.volumes.init('ada', at);
    const plugin = join(bench.folder, 'carrel-base-plugins/plugin');
    writeFileSync(plugin, 'plugin');
    chownSync(plugin, 1000, 1000);
    chmodSync(plugin, 0o4755);
    await bench.volumes.backup(ada, 'base-plugins', bench.file, at);
    bench.agent = agent;
    await bench.volumes.restore(ada, bench.file, at);
    expect(statSync(plugin)).toMatchObject({ uid: 0, gid: 0, mode: 0o100755 });
  });

  it('belongs to agent after a migration from older names', async () => {
    bench.write('a', 'a', join(bench.old, 'carrel-home'));
    bench.write('b', 'b', join(bench.old, 'carrel-home'));
    for (const path of ['carrel-home', 'carrel-home/a']) chownSync(join(bench.old, path), other, other);
    chownSync(join(bench.old, 'carrel-home/b'), 1000, 1000);
    bench.agent = agent;
    await bench.volumes.migrate(ada, findOldVolumes(bench.old, 'carrel'), at);
    expect(owners('.', 'a', 'b')).toEqual([agent, agent, agent]);
    expect(statSync(join(bench.old, 'carrel-home/a')).uid).toBe(other);
  });
});

describe('a tree deeper than a path can be long', () => {
  it('is measured and removed', async () => {
    bench.volumes.init('ada', at);
    plantDeep(bench.home(), 'x', 5000);
    within(Anchor.open(bench.home()), (folder) => expect(folder.list()).toEqual(['x']));
    expect((await bench.volumes.status(ada, 'home', at, 1)).sizeBytes).toBeGreaterThan(5000);
    const [cleaned] = await bench.volumes.clean(ada, ['home'], true, at);
    expect(cleaned!.backup!.notes).toMatchObject([/left out, path that is too long/]);
    expect(cleaned!.backup!.bytes).toBeLessThan(1_000_000);
    expect(existsSync(bench.home())).toBe(false);
  });
});
