import { describe, expect, it } from 'vitest';
import type { WatchAction } from '../../room/model/watch.ts';
import { declare } from './declare.ts';
import type { Existing, ExistingSandbox, PlannedFleet, PlanStep } from './fleet.ts';
import { plan } from './plan.ts';

const nothing: Existing = { sandboxes: [], volumes: [], rooms: [], watches: [], secrets: [] };
const shop = (sandboxes: object, top: object = {}) =>
  declare({ name: 'shop', projects: { app: 'app', api: 'api' }, ...top, sandboxes }, '/work');

/** The observed state after a step. */
function after(existing: Existing, step: PlanStep): Existing {
  if (step.act === 'init-volumes') return { ...existing, volumes: [...existing.volumes, ...step.volumes] };
  if (step.act === 'init-rooms') return { ...existing, rooms: [...existing.rooms, ...step.rooms] };
  if (step.act === 'watch' || step.act === 'unwatch') return { ...existing, watches: watchesAfter(existing, step) };
  const old = existing.sandboxes.find(({ name }) => name === step.name);
  const others = existing.sandboxes.filter((one) => one !== old);
  return { ...existing, sandboxes: step.act === 'remove' ? others : [...others, made(old, step)] };
}

function watchesAfter({ watches }: Existing, step: Extract<PlanStep, { act: 'watch' | 'unwatch' }>) {
  const others = watches.filter(({ room, who }) => room !== step.room || who !== step.name);
  if (step.act === 'unwatch') return others;
  const { fleet, all = false, run, wake, webhook, secret = null } = step.request;
  const action: WatchAction =
    webhook !== undefined
      ? { kind: 'webhook', url: webhook, secret }
      : run
        ? { kind: 'run', argv: run }
        : { kind: 'wake', argv: wake!.command };
  return [...others, { room: step.room, who: step.name, action, isForAll: all, fleet }];
}

let count = 0;
function made(
  old: ExistingSandbox | undefined,
  step: Exclude<PlanStep, { act: 'init-volumes' | 'init-rooms' | 'watch' | 'unwatch' | 'remove' }>,
): ExistingSandbox {
  if (step.act === 'start') return { ...old!, state: 'running' };
  if (step.act === 'network') {
    return { ...old!, allow: [...old!.allow.filter((rule) => !step.deny.includes(rule)), ...step.allow] };
  }
  const { name, labels, network = [] } = step.request;
  return { id: `id-${count++}`, name, state: 'running', labels, allow: network === 'none' ? [] : network };
}

const reached = (steps: readonly PlanStep[], from = nothing) => steps.reduce(after, from);
const linesOf = ({ steps }: PlannedFleet) =>
  steps.map((step) => {
    if (step.act === 'init-rooms') return `rooms ${step.rooms}`;
    if (step.act === 'watch' || step.act === 'unwatch') return `${step.act} ${step.room} ${step.name}`;
    return step.act === 'init-volumes' ? `volumes ${step.volumes}` : `${step.act} ${step.name}`;
  });
const inState = (existing: Existing, name: string, state: ExistingSandbox['state']): Existing => ({
  ...existing,
  sandboxes: existing.sandboxes.map((one) => (one.name === name ? { ...one, state } : one)),
});

const declared = shop({ a: { project: 'app' }, b: { command: ['x'] } }, { volumes: ['session'] });
const there = reached(plan(declared, nothing).steps);

it('rooms that are missing are created first, each once', () => {
  const found = plan(shop({ a: { rooms: ['team', 'news:ro'] }, b: { rooms: ['team'] } }), {
    ...nothing,
    rooms: ['news'],
  });
  expect(linesOf(found)).toEqual(['rooms team', 'create a', 'create b']);
});

describe('watchers of rooms', () => {
  const watched = (watch: object, sandboxes: object = {}) => shop(sandboxes, { rooms: { team: { watch } } });
  const before = watched({ ada: { wake: 'claude' }, log: { run: ['logger'], all: true } }, { ada: {} });
  const present = reached(plan(before, nothing).steps);

  it('are added after their room and their sandbox, and once', () => {
    expect(linesOf(plan(before, nothing))).toEqual(['rooms team', 'create ada', 'watch team ada', 'watch team log']);
    expect(linesOf(plan(before, present))).toEqual([]);
  });

  it('are changed and removed with their declaration', () => {
    const after = watched({ ada: { wake: ['npm', 'test'] } }, { ada: {} });
    expect(linesOf(plan(after, present))).toEqual(['watch team ada', 'unwatch team log']);
    expect(linesOf(plan(shop({ ada: {} }), present))).toEqual(['unwatch team ada', 'unwatch team log']);
  });

  it('that the fleet did not add are left, and a declared one of that name is a problem', () => {
    const watches = present.watches.map((one) => ({ ...one, fleet: one.who === 'ada' ? 'other' : null }));
    expect(linesOf(plan(shop({ ada: {} }), { ...present, watches }))).toEqual([]);
    expect(plan(before, { ...present, watches }).problems).toMatchObject([
      { code: 'conflict', place: ['rooms', 'team', 'watch', 'ada'] },
      { code: 'conflict', place: ['rooms', 'team', 'watch', 'log'] },
    ]);
  });

  it('that wake need a sandbox of their name', () => {
    expect(plan(watched({ ada: { wake: 'claude' } }), nothing).problems).toMatchObject([
      { code: 'not_found', message: 'there is no sandbox ada to wake' },
    ]);
  });
});

describe('on an empty machine', () => {
  it('everything is created in the order of the file', () => {
    expect(linesOf(plan(declared, nothing))).toEqual(['volumes session', 'create a', 'create b']);
  });

  it('a second plan has no steps', () => {
    expect(plan(declared, there)).toMatchObject({ steps: [], same: ['a', 'b'], completed: [], problems: [] });
  });
});

describe('an existing sandbox', () => {
  it.each([
    ['pending', []],
    ['running', []],
    ['completed', []],
    ['failed', ['start b']],
    ['stopped', ['start b']],
  ] as const)('that is %s is started only if it failed or was stopped', (state, steps) => {
    const found = plan(declared, inState(there, 'b', state));
    expect(linesOf(found)).toEqual(steps);
    expect(found.completed).toEqual(state === 'completed' ? ['b'] : []);
  });

  it('that is no longer declared is removed, last', () => {
    expect(linesOf(plan(shop({ c: {}, b: { command: ['x'] } }), there))).toEqual(['create c', 'remove a']);
  });

  it('of another fleet, of no fleet, or a fork is not touched', () => {
    const own = there.sandboxes[0]!;
    const others = [
      { ...own, name: 'fork' },
      { ...own, name: 'plain', labels: {} },
      { ...own, name: 'else', labels: { 'carrel.fleet': 'shop2/else' } },
    ];
    const existing = { ...there, sandboxes: [...there.sandboxes, ...others] };
    expect(linesOf(plan(declared, existing))).toEqual([]);
    expect(linesOf(plan(shop({}), existing))).toEqual(['remove a', 'remove b']);
  });

  it('with a declared name that the fleet did not create is a problem and is not touched', () => {
    const labels = { 'carrel.fleet': 'other/a' };
    const existing = { ...there, sandboxes: [{ ...there.sandboxes[0]!, labels }] };
    const found = plan(declared, existing);
    expect(linesOf(found)).toEqual(['create b']);
    expect(found.problems).toMatchObject([{ code: 'conflict', place: ['sandboxes', 'a'] }]);
  });
});

it('secrets that are not set are problems, each with its path', () => {
  const wanted = shop({}, { secrets: ['A', 'B', 'C'] });
  expect(plan(wanted, { ...nothing, secrets: ['B'] }).problems).toMatchObject([
    { code: 'not_found', place: ['secrets', 0], message: 'the secret A is not set', hint: 'carrel secret set A' },
    { place: ['secrets', 2] },
  ]);
});

describe('a sandbox whose declaration changed is replaced', () => {
  const before = { project: 'app', command: ['x'], env: { A: '1' }, limits: { memory: '1g' } };
  const existing = reached(plan(shop({ a: before }), nothing).steps);
  const top = { secrets: ['K'], volumes: ['session'] };
  const ready = { ...existing, secrets: ['K'], volumes: ['session' as const], rooms: ['team', 'news'] };

  it.each([
    ['project', { project: 'api' }, '/work/app', '/work/api'],
    ['mode', { mode: 'clone' }, null, 'clone'],
    ['base', { base: 'frozen' }, null, 'frozen'],
    ['engine', { engine: 'docker' }, null, 'docker'],
    ['runtime', { runtime: 'runc' }, null, 'runc'],
    ['command', { command: ['x', 'y'] }, '["x"]', '["x","y"]'],
    ['command', { command: undefined }, '["x"]', null],
    ['secrets', { secrets: ['K'] }, null, '["K"]'],
    ['credentials', { credentials: ['claude'] }, null, '["claude"]'],
    ['services', { services: ['notes'] }, null, '["notes"]'],
    ['volumes', { volumes: ['session:/s'] }, null, '["session:/s"]'],
    ['rooms', { rooms: ['team', 'news:ro', 'team:ro'] }, null, '["news:ro","team"]'],
    ['limits.memory', { limits: { memory: '2g' } }, '1073741824', '2147483648'],
    ['limits.memory', { limits: {} }, '1073741824', null],
  ])('for a change of %s: %j', (field, change, was, is) => {
    const found = plan(shop({ a: { ...before, ...change } }, top), ready);
    expect(found.steps).toMatchObject([
      { act: 'replace', name: 'a', differences: [{ field, before: was, after: is }] },
    ]);
  });

  it.each([
    [
      'another spelling of the same declaration',
      { env: { A: '1' }, limits: { memory: '1024m' }, mode: 'overlay', base: 'live' },
    ],
    ['a field that has the default of the installation', { engine: 'local' }],
  ])('but not for %s', (_, change) => {
    expect(linesOf(plan(shop({ a: { ...before, ...change } }, top), ready))).toEqual([]);
  });

  it('a changed variable is a difference without its value', () => {
    const secretive = { ...before, env: { A: 'hunter2' } };
    const [step] = plan(shop({ a: secretive }, top), ready).steps;
    expect(JSON.stringify(step && 'differences' in step && step.differences)).not.toContain('hunter2');
    expect(step).toMatchObject({ act: 'replace', differences: [{ field: 'env' }] });
  });

  it('if the label with its declaration cannot be parsed', () => {
    for (const declared of ['', '{', '[1]', '{"a":1}', 'null']) {
      const labels = { 'carrel.fleet': 'shop/a', 'carrel.fleet.declared': declared };
      const odd = { ...ready, sandboxes: [{ ...existing.sandboxes[0]!, labels }] };
      expect(linesOf(plan(shop({ a: before }, top), odd))).toEqual(['replace a']);
    }
  });

  it('a long declaration fits into a label and still differs', () => {
    const long = (end: string) => ({ command: ['x'.repeat(100_000) + end], env: { A: 'y'.repeat(100_000) } });
    const made = reached(plan(shop({ a: long('1') }), nothing).steps);
    for (const label of Object.values(made.sandboxes[0]!.labels)) expect(label.length).toBeLessThanOrEqual(4096);
    expect(linesOf(plan(shop({ a: long('1') }), made))).toEqual([]);
    expect(linesOf(plan(shop({ a: long('2') }), made))).toEqual(['replace a']);
  });
});

describe('network rules', () => {
  const existing = reached(plan(shop({ a: { network: ['a.org', 'b.org'] } }), nothing).steps);

  it.each([
    ['the same rules in another order', ['b.org', 'a.org'], []],
    ['an added rule', ['a.org', 'b.org', 'c.org'], [{ allow: ['c.org'], deny: [] }]],
    ['a replaced rule', ['c.org', 'a.org'], [{ allow: ['c.org'], deny: ['b.org'] }]],
    ['no rules', 'none', [{ allow: [], deny: ['a.org', 'b.org'] }]],
    ['no declaration of rules', undefined, []],
  ])('change without a replacement of the sandbox: %s', (_, network, steps) => {
    const found = plan(shop({ a: { network } }), existing);
    expect(found.steps).toEqual(steps.map((step) => ({ act: 'network', name: 'a', ...step })));
    expect(plan(shop({ a: { network } }), reached(found.steps, existing)).steps).toEqual([]);
  });

  it('change before the start, and are part of a replacement', () => {
    const stopped = inState(existing, 'a', 'stopped');
    expect(linesOf(plan(shop({ a: { network: 'none' } }), stopped))).toEqual(['network a', 'start a']);
    expect(linesOf(plan(shop({ a: { network: 'none', command: ['x'] } }), stopped))).toEqual(['replace a']);
  });
});

describe('from every state', () => {
  const entries = [
    undefined,
    {},
    { command: ['x'], network: 'none' },
    { project: 'app', network: 'none' },
    { project: 'app', network: ['a.org'] },
  ];
  const states = ['running', 'stopped', 'failed', 'completed'] as const;
  const fleets = entries.flatMap((a) =>
    entries.map((b) => shop({ ...(a ? { a } : {}), ...(b ? { b } : {}) }, { volumes: ['session'] })),
  );
  const shape = ({ sandboxes, volumes }: Existing) => [
    volumes,
    sandboxes.map(({ name, labels, allow }) => `${name} ${JSON.stringify([labels, allow])}`).sort(),
  ];

  it('all steps, or some of them and then a new plan, reach the same state', () => {
    for (const from of fleets) {
      for (const state of states) {
        const start = inState(reached(plan(from, nothing).steps), 'a', state);
        for (const to of fleets) {
          const { steps } = plan(to, start);
          const end = reached(steps, start);
          expect(plan(to, end).steps).toEqual([]);
          for (let cut = 0; cut < steps.length; cut++) {
            const left = reached(steps.slice(0, cut), start);
            expect(shape(reached(plan(to, left).steps, left))).toEqual(shape(end));
          }
        }
      }
    }
  });

  it('a sandbox that is as declared is not replaced', () => {
    const start = reached(plan(fleets[7]!, nothing).steps);
    let same = 0;
    for (const to of fleets) {
      const found = plan(to, start);
      const end = reached(found.steps, start);
      same += found.same.length;
      for (const name of found.same)
        expect(end.sandboxes.find((one) => one.name === name)).toBe(start.sandboxes.find((one) => one.name === name));
    }
    expect(same).toBeGreaterThan(0);
  });
});
