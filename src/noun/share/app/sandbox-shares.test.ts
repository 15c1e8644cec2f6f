import { beforeEach, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../../test/fakes/store/memory.ts';
import type { Store } from '../../../kernel/store/store.ts';
import { initialStatus, type Sandbox, type SandboxSpec, type SandboxStatus } from '../../sandbox/model.ts';
import { parseConsumerRequest, type Share } from '../model.ts';
import { SandboxShares, type SandboxSharesParts } from './sandbox-shares.ts';

let store: Store;
let canAdd = true;
let mounted: string[] = [];
let mountNow: SandboxSharesParts['mountNow'];
beforeEach(() => {
  store = createMemoryStore();
  canAdd = true;
  mounted = [];
  mountNow = async ({ name }, { target }) => void mounted.push(`${name} ${target}`);
});

const event = { at: '', type: 'test', subject: '', data: {} };
const sandboxShares = () =>
  new SandboxShares({
    store,
    now: () => '',
    reconciler: { alone: (_, task) => task() },
    canAdd: () => canAdd,
    mountNow,
  });

function share(name: string, at: readonly string[] = [], more: Partial<Share> = {}) {
  const value: Share = {
    ...{ name, folder: `/srv/${name}`, groupId: 1, createdAt: '' },
    identity: { device: '1', inode: '2', bootId: '' },
    consumers: at.map(parseConsumerRequest).map((one) => ({ ...one, path: one.path ?? '' })),
    ...more,
  };
  return store.insert({ kind: 'share', id: `id-${name}`, owner: 'ann', name, value }, event);
}

function sandbox(name: string, spec: Partial<SandboxSpec> = {}, status: Partial<SandboxStatus> = {}) {
  const value = {
    id: `id-${name}`,
    name,
    createdAt: '',
    spec: { attempt: 1, ...spec },
    status: { ...initialStatus, ...status },
  };
  return store.insert({ kind: 'sandbox', id: value.id, owner: 'ann', name, value: value as unknown as Sandbox }, event);
}

const targets = (request: Parameters<SandboxShares['mounts']>[1], project: string | null = null) =>
  sandboxShares()
    .mounts('ann', request, project)
    .map(({ name, target, readonly }) => `${name} ${target}${readonly ? ' ro' : ''}`);

describe('a new sandbox', () => {
  it('gets the shares that name it and those that it asks for, whose path in the request takes precedence', () => {
    share('one', ['box=/one:ro']);
    share('two');
    share('three', ['box=/three:ro']);
    expect(targets({ name: 'box', shares: [{ share: 'two' }, { share: 'three', target: '/x' }] })).toEqual([
      'two /shares/two',
      'three /x ro',
      'one /one ro',
    ]);
    expect(targets({ name: 'other' })).toEqual([]);
    expect(targets({})).toEqual([]);
  });

  it('gets the shares of its project, where a path for the sandbox itself takes precedence', () => {
    const value = { ...{ id: 'web', folder: '/src/web', mode: 'bind' as const, test: null }, createdAt: '' };
    store.insert({ kind: 'project', id: 'p1', owner: 'ann', name: 'web', value }, event);
    share('in', ['project:web=/in', 'box=/own:ro']);
    expect(targets({}, '/src/web')).toEqual(['in /in']);
    expect(targets({ name: 'hub-web' })).toEqual(['in /in']);
    expect(targets({ name: 'box' }, '/src/web')).toEqual(['in /own ro']);
    expect(targets({ name: 'other' }, '/src/other')).toEqual([]);
    expect(targets({ name: 'other' })).toEqual([]);
  });

  it('is refused a share that does not exist, is being revoked, or belongs to another user', () => {
    share('gone', ['box=/gone'], { revoking: { consumer: null, force: false } });
    expect(() => targets({ shares: [{ share: 'none' }] })).toThrow('no share "none"');
    expect(() => targets({ shares: [{ share: 'gone' }] })).toThrow('is being revoked');
    expect(targets({ name: 'box' })).toEqual([]);
    expect(() => sandboxShares().mounts('bob', { shares: [{ share: 'gone' }] }, null)).toThrow('no share');
  });

  it.each([
    ['/data', '/data/in'],
    ['/data/in/x', '/data/in'],
    ['/data/in', '/data/in'],
  ])('is refused a share that overlaps a volume: %s and %s', (volume, target) => {
    share('in');
    const request = { volumes: [{ volume: 'cache', target: volume }], shares: [{ share: 'in', target }] };
    expect(() => targets(request)).toThrow('is mounted there or around it');
  });

  it('is not recorded with a share that was revoked since its spec was made', () => {
    const row = share('in');
    const shares = sandboxShares().mounts('ann', { shares: [{ share: 'in' }] }, null);
    sandboxShares().require({ shares } as unknown as SandboxSpec);
    store.remove(row, event);
    expect(() => sandboxShares().require({ shares } as unknown as SandboxSpec)).toThrow('is being revoked');
  });
});

describe('an existing sandbox', () => {
  const specOf = (name: string) => store.find('sandbox', 'ann', name)!.value.spec.shares;

  it('gets a share that names it, once', async () => {
    sandbox('box');
    const row = share('in', ['box=/in']);
    await sandboxShares().grant(row);
    const { revision } = store.find('sandbox', 'ann', 'box')!;
    await sandboxShares().grant(row);
    expect(specOf('box')).toMatchObject([{ id: 'id-in', target: '/in' }]);
    expect(store.find('sandbox', 'ann', 'box')!.revision).toBe(revision);
  });

  it('gets a share mounted at once, or by the next grant if the first one could not mount it', async () => {
    sandbox('box');
    const row = share('in', ['box=/in']);
    mountNow = async () => {
      throw new Error('its root cannot be changed');
    };
    expect(await sandboxShares().grant(row)).toEqual(['box gets it at its next start: its root cannot be changed']);
    expect(specOf('box')).toMatchObject([{ target: '/in' }]);
    mountNow = async ({ name }, { target }) => void mounted.push(`${name} ${target}`);
    expect(await sandboxShares().grant(row)).toEqual([]);
    expect(mounted).toEqual(['box /in']);
  });

  it('does not get a share that was changed or revoked meanwhile', async () => {
    sandbox('box');
    const row = share('in', ['box=/in']);
    store.update(row, { ...row.value, revoking: { consumer: null, force: false } }, event);
    await sandboxShares().grant(row);
    expect([specOf('box'), mounted]).toEqual([undefined, []]);
  });

  it('is refused another path of a share while it runs or is about to', async () => {
    share('in', ['box=/new']);
    const { value } = store.find('share', 'ann', 'in')!;
    const old = { ...sandboxShares().mounts('ann', { name: 'box' }, null)[0]!, target: '/old' };
    sandbox('box', { shares: [old], attempt: 2 }, { state: 'stopped', attempt: 1 });
    expect(() => sandboxShares().check('ann', value)).toThrow('at another path');
  });

  it('is refused a share if agent would get another id', () => {
    canAdd = false;
    sandbox('box');
    const { value } = share('in', ['box=/in']);
    expect(() => sandboxShares().check('ann', value)).toThrow('without root');
  });
});
