import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../../test/fakes/store/memory.ts';
import { sampleSpec } from '../../../../test/fixtures/sandbox.ts';
import { initialStatus, type SandboxSpec } from '../../sandbox/model.ts';
import { userHash, type Volume } from '../model.ts';
import type { Cleaned } from '../volume.ts';
import type { Volumes } from '../volumes.ts';
import { mountedBy, UserVolumes, useVolumes, volumeRecords } from './user-volumes.ts';

const ann = { name: 'ann', isOwner: true } as never;
const bob = { name: 'bob', isOwner: false } as never;
const [homeOfAnn, bankOfAnn] = ['home', 'memory-bank'].map((type) => `carrel-${type}-${userHash('ann')}`) as [
  string,
  string,
];
const event = (type: string) => ({ at: '', type, subject: '', data: {} }) as never;

function volume(name: string, change: Partial<Volume> = {}): Volume {
  const times = { createdAt: '2025-01-01T00:00:00.000Z', lastUsedAt: null, migratedFrom: null };
  return { name, type: 'home', user: 'ann', ...times, ...change };
}

function userVolumes(actor: never, volumes: Partial<Volumes>, parts: object = {}): UserVolumes {
  const fixed = { prefix: 'carrel', now: () => '2025-01-02T03:04:05.000Z', users: () => [], eraseBank: async () => {} };
  return new UserVolumes(actor, {
    ...fixed,
    volumes: volumes as Volumes,
    home: { rootless: false, backups: '/b' },
    ...parts,
  } as never);
}

describe('the place of a volume', () => {
  const volumes = userVolumes(ann, {});
  const check = (...targets: string[]) => volumes.check(targets.map((target) => ({ volume: 'session', target })));

  it('is not reserved, and no other mount has it', () => {
    check('/data/a', '/data/a/b', '/data/b');
    expect(() => check('/data/a', '/data/b', '/data/a')).toThrow('two volumes cannot both be at "/data/a"');
    for (const place of ['/', '/etc', '/workspace/a', '/data/../etc', '/home/agent', '/opt/carrel/bin', '/run/secrets'])
      expect(() => check(place), place).toThrow('no volume can be mounted');
  });

  it('cannot be given to the home, which every sandbox has', () => {
    expect(() => volumes.check([{ volume: 'home', target: '/data/home' }])).toThrow('every sandbox has the home');
    const found = { resolve: () => ({ volume: volume(homeOfAnn), readonly: false }), init: () => [] } as never;
    const requests = [{ volume: homeOfAnn, target: '/data/home' }];
    expect(() => userVolumes(ann, found).mounts(requests)).toThrow('every sandbox has the home');
  });
});

it('without root, only the owner of the installation has volumes mounted', () => {
  const rootless = { home: { rootless: true, backups: '/b' } };
  const requests = [{ volume: 'session', target: '/data/a' }];
  expect(() => userVolumes(bob, {}, rootless).check(requests)).toThrow('only the owner of the installation');
  userVolumes(bob, {}, rootless).check([]);
  userVolumes(ann, {}, rootless).check(requests);
});

it('a user who is not the owner names no file of the machine: only the backups that were made here', async () => {
  const files: string[] = [];
  const restoring = {
    restore: async (_: unknown, file: string) => {
      files.push(file);
      return { volume: volume('v'), notes: [] };
    },
  } as never;
  for (const path of ['one.tar', '/etc/passwd', '../../secret.tar']) await userVolumes(bob, restoring).restore(path);
  expect(files).toEqual(['/b/one.tar', '/b/passwd', '/b/secret.tar']);
});

describe('clean', () => {
  const all = [
    volume(homeOfAnn),
    volume(bankOfAnn, { type: 'memory-bank' }),
    volume('carrel-named-x', { type: 'named', label: 'x' }),
    volume('carrel-base-plugins', { type: 'base-plugins', user: null }),
  ];
  function cleaning(mounted: readonly string[], kept: Readonly<Record<string, string>> = {}) {
    const acts: string[] = [];
    const volumes = {
      list: () => all,
      status: async (_: unknown, name: string) => ({
        ...all.find((one) => one.name === name)!,
        ...{ sizeBytes: 1, staleDays: null, mountedBy: mounted.includes(name) ? ['ann/box'] : [] },
      }),
      clean: async (_: unknown, names: readonly string[], backup: boolean): Promise<Cleaned[]> => {
        acts.push(`clean ${names.join(' ')} ${backup}`);
        return names.map((name) => ({ name, backup: null, kept: kept[name] ?? null }));
      },
    };
    const eraseBank = async (user: string) => void acts.push(`erase the bank of ${user}`);
    return { acts, of: userVolumes(ann, volumes as never, { eraseBank }) };
  }

  it('without names removes no named volume, no shared one and none that is mounted', async () => {
    const { acts, of } = cleaning([homeOfAnn]);
    expect(await of.clean({})).toEqual({
      removed: [{ name: bankOfAnn, sizeBytes: 1, backup: null }],
      kept: [{ name: homeOfAnn, mountedBy: ['ann/box'] }],
    });
    expect(acts).toEqual([`clean ${bankOfAnn} true`]);
  });

  it('of a memory bank without a backup erases its history, unless the bank was kept', async () => {
    const removed = cleaning([]);
    await removed.of.clean({ names: ['memory-bank'], backup: false });
    expect(removed.acts).toEqual([`clean ${bankOfAnn} false`, 'erase the bank of ann']);
    const kept = cleaning([], { [bankOfAnn]: 'in use' });
    const { kept: left } = await kept.of.clean({ names: ['memory-bank'], backup: false });
    expect([kept.acts, left]).toEqual([[`clean ${bankOfAnn} false`], [{ name: bankOfAnn, mountedBy: ['in use'] }]]);
    const backedUp = cleaning([]);
    await backedUp.of.clean({ names: ['memory-bank'] });
    expect(backedUp.acts).toEqual([`clean ${bankOfAnn} true`]);
  });

  it('that only says what it would do removes nothing', async () => {
    const { acts, of } = cleaning([]);
    expect((await of.clean({ dryRun: true })).removed.map(({ name }) => name)).toEqual([homeOfAnn, bankOfAnn]);
    expect(acts).toEqual([]);
  });

  it('of a volume of another user is not found', async () => {
    await expect(cleaning([]).of.clean({ names: ['carrel-base-plugins'] })).rejects.toThrow('no volume');
  });
});

describe('remove', () => {
  const removing = (found: Volume, cleaned: Cleaned[]) =>
    userVolumes(ann, { find: () => found, clean: async () => cleaned } as never);

  it('is for named volumes alone, and says which command is for the others', async () => {
    const refused = await removing(volume(homeOfAnn), [])
      .remove('home', true)
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'conflict', hint: expect.stringContaining('carrel volume clean home') });
  });

  it('of a named volume of another user is not found, also for the owner of the installation', async () => {
    const foreign = volume('v', { type: 'named', label: 'x', user: 'bob' });
    await expect(removing(foreign, []).remove('v', true)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('fails with the reason if the volume stays', async () => {
    const mine = volume('v', { type: 'named', label: 'x' });
    const failing = removing(mine, [{ name: 'v', backup: null, kept: 'it is in use' }]).remove('x', true);
    await expect(failing).rejects.toThrow('x was not removed: it is in use');
  });
});

describe('the sandboxes of a volume', () => {
  const store = createMemoryStore();
  const sandbox = (id: string, user: string, volumes: SandboxSpec['volumes']) => {
    const spec = { ...sampleSpec, user, volumes };
    const value = { ...{ id, name: id, createdAt: '', endedAt: null }, spec, status: initialStatus };
    store.insert({ kind: 'sandbox', id, owner: user, name: id, value: value as never }, event('test'));
    return value;
  };
  const mounts = [{ name: 'carrel-named-x', target: '/data/x', readonly: false }];
  const box = sandbox('box', 'ann', mounts);
  sandbox('other', 'ann', []);
  sandbox('bobs', 'bob', mounts);

  it('are those that mount it, and all of the user for the home', () => {
    const find = mountedBy(store, 'carrel');
    expect(find('carrel-named-x')).toEqual(['ann/box', 'bob/bobs']);
    expect(find(homeOfAnn)).toEqual(['ann/box', 'ann/other']);
    expect(find('carrel-named-y')).toEqual([]);
  });

  it('record its use when they start, after the volumes of the user are there', () => {
    const acts: string[] = [];
    const volumes = {
      init: (user: string) => {
        acts.push(`init ${user}`);
        return [];
      },
      touch: (name: string) => void acts.push(`touch ${name}`),
    };
    useVolumes(volumes, box as never, 'carrel', '');
    expect(acts).toEqual(['init ann', `touch ${homeOfAnn}`, 'touch carrel-named-x']);
  });
});

it('the records of volumes are rows of their users, and a shared one has no owner', () => {
  const store = createMemoryStore();
  const records = volumeRecords(store);
  records.put(volume('v'), event('volume.created'));
  records.put(volume('s', { user: null }), event('volume.created'));
  records.put(volume('v', { lastUsedAt: 'now' }), event('volume.used'));
  expect(store.list('volume').map(({ name, owner }) => [name, owner])).toEqual(
    expect.arrayContaining([
      ['v', 'ann'],
      ['s', ''],
    ]),
  );
  expect([records.get('v')?.lastUsedAt, records.get('none'), records.list().length]).toEqual(['now', null, 2]);
  records.remove('v', event('volume.removed'));
  records.remove('v', event('volume.removed'));
  expect(records.list().map(({ name }) => name)).toEqual(['s']);
});
