import { describe, expect, it } from 'vitest';
import { Fault, isFault } from '../../../../model/fault.ts';
import { defaultLimits } from '../../../../model/limits.ts';
import { Fleets } from './fleets.ts';

interface Known {
  readonly name: string;
  readonly owner?: string;
  readonly bound?: string;
  readonly labels?: Record<string, string>;
  readonly allow?: string[];
}

/** Fleets over these sandboxes; `spec` is what any request would become. */
function fleets(
  known: readonly Known[],
  {
    user = 'ann',
    isOwner = true,
    spec = {},
    lost = null as 'changes' | null,
    removed = [] as string[],
    missing = '',
  } = {},
) {
  const rows = (all: boolean) =>
    known
      .filter(({ name, owner = 'ann' }) => (all || owner === user) && !removed.includes(name))
      .map(({ name, bound }) => ({
        id: `of ${name}`,
        name,
        value: { spec: bound ? { mode: 'bind', project: bound } : { mode: 'none' } },
      }));
  const mine = known.filter(({ owner = 'ann' }) => owner === user);
  const sandboxes = {
    rows,
    list: async () =>
      mine.map(({ name, labels = {}, allow = [] }) => ({
        id: `of ${name}`,
        name,
        state: 'running',
        labels,
        network: { allow },
      })),
    current: async (name: string) => {
      if (removed.includes(name)) throw new Fault('not_found', `no sandbox ${name}`);
      return { value: { name } };
    },
    check: () => ({ mode: 'none', project: null, network: { allow: ['usual.org'], ports: [] }, ...spec }),
  };
  const volumes = { list: () => [], check: () => {}, checkDeclared: () => {} };
  const secrets = { list: () => [{ name: 'SET' }] };
  const rooms = { names: () => [] };
  const watches = { all: () => [] };
  return new Fleets({ name: user, isOwner }, {
    sandboxes,
    volumes,
    rooms,
    watches,
    secrets,
    images: {
      prove: async (image: string) => {
        if (image === missing) throw new Fault('not_found', `the engine has no image ${image}`);
      },
    },
    trusts: { show: () => ({ added: [] }) },
    limits: defaultLimits,
    volumePrefix: 'carrel',
    installation: 'i1',
    unapplied: async () => lost,
    compose: () => '',
  } as never);
}

const file = '/work/shop/carrel.yaml';
const inFleet = (name: string) => ({ name, labels: { 'carrel.fleet': `shop/${name}`, 'carrel.fleet.declared': '{}' } });
const refused = async (plan: Promise<unknown>): Promise<Fault> => {
  const fault = await plan.then(
    () => null,
    (error: unknown) => error,
  );
  if (!isFault(fault)) throw new Error('it was not refused');
  return fault;
};

describe('a file that an agent can write', () => {
  const content = { name: 'shop', sandboxes: { a: {} } };

  it.each([
    ['/work/shop', 4],
    ['/work', 4],
    ['/', 4],
    ['/work/sho', 0],
    ['/work/shop/carrel.yaml/x', 0],
  ])('is refused only if it is in the bound folder %s', async (bound, code) => {
    const plan = fleets([{ name: 'writer', bound }]).plan({ file, content });
    if (code === 0) await plan;
    else expect(await refused(plan)).toMatchObject({ code: 'denied', message: expect.stringContaining('writer') });
    const compose = () => fleets([{ name: 'writer', bound }]).compose({ file, content });
    if (code === 0) compose();
    else expect(compose).toThrow('can write');
  });

  it('is refused to the owner also for sandboxes of others, and to another user only for their own', async () => {
    const others = [{ name: 'writer', owner: 'bob', bound: '/work' }];
    await fleets(others, { user: 'eve', isOwner: false }).plan({ file, content });
    expect((await refused(fleets(others).plan({ file, content }))).code).toBe('denied');
  });

  it('is refused if a declared sandbox would bind its folder', async () => {
    const spec = { mode: 'bind', project: '/work' };
    expect(await refused(fleets([], { spec }).plan({ file, content }))).toMatchObject({
      code: 'denied',
      data: { problems: [{ place: ['sandboxes', 'a', 'mode'] }] },
    });
  });
});

it('a step that replaces or removes a sandbox says which work would be lost', async () => {
  const known = [inFleet('a'), inFleet('old')];
  const content = { name: 'shop', sandboxes: { a: { command: ['x'] } } };
  expect((await fleets(known, { lost: 'changes' }).plan({ file, content })).steps).toMatchObject([
    { act: 'replace', name: 'a', id: 'of a', unapplied: 'changes' },
    { act: 'remove', name: 'old', id: 'of old', unapplied: 'changes' },
  ]);
});

it('a sandbox that is removed while the plan is made has no work to lose', async () => {
  const content = { name: 'shop', sandboxes: { a: { command: ['x'] } } };
  const gone = fleets([inFleet('a')], { removed: ['a'] });
  expect((await gone.plan({ file, content })).steps).toMatchObject([{ act: 'replace', name: 'a', unapplied: null }]);
});

it('a sandbox without declared network gets the rules that a new one would have', async () => {
  const content = { name: 'shop', sandboxes: { a: {}, b: { network: 'none' } } };
  const known = [{ ...inFleet('a'), allow: ['usual.org', 'by-hand.org'] }, inFleet('b')];
  expect(await fleets(known).plan({ file, content })).toMatchObject({
    steps: [{ act: 'network', name: 'a', allow: [], deny: ['by-hand.org'] }],
    same: ['b'],
  });
});

it('secrets that are not set are reported before any other problem', async () => {
  const content = { name: 'shop', secrets: ['SET', 'NOT'], sandboxes: { a: {} } };
  const fault = await refused(fleets([], { spec: { mode: 'bind', project: '/' } }).plan({ file, content }));
  expect(fault).toMatchObject({
    code: 'not_found',
    hint: 'carrel secret set NOT',
    message: 'secrets.1: the secret NOT is not set',
  });
});

it('all images that the engine does not have are reported before any step', async () => {
  const docker = { engine: 'docker', image: 'gone' };
  const content = { name: 'shop', sandboxes: { a: {}, b: docker, c: { engine: 'docker', image: 'there' }, d: docker } };
  expect(await refused(fleets([], { missing: 'gone' }).plan({ file, content }))).toMatchObject({
    code: 'not_found',
    message: 'sandboxes.b: the engine has no image gone\nsandboxes.d: the engine has no image gone',
  });
});
