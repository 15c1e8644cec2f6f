import { describe, expect, it, vi } from 'vitest';
import { createFakeEngine } from '../../../test/fakes/engine/engine.ts';
import { sampleLaunch } from '../../../test/fixtures/launch.ts';
import { Fault } from '../../model/fault.ts';
import type { Engine } from './engine.ts';
import { Engines } from './engines.ts';

const [one, two] = ['1'.repeat(16), '2'.repeat(16)];
const onDocker = { spec: { engine: 'docker' } } as const;
const onLocal = { spec: { engine: 'local' } } as const;

function setUp(docker: Engine = createFakeEngine(), wasUsed = false) {
  const [local, opened] = [createFakeEngine(), [] as string[]];
  const source = (name: string, engine: Engine, used: boolean) => ({
    open: () => {
      opened.push(name);
      return engine;
    },
    wasUsed: () => used,
  });
  const engines = new Engines({ local: source('local', local, true), docker: source('docker', docker, wasUsed) });
  return { local, docker, opened, engines };
}

async function idsOn(engines: Engines): Promise<string[]> {
  return (await engines.list()).map(({ id }) => id).sort();
}

describe('the list of engines', () => {
  it('returns the engine that a record names', async () => {
    const { local, docker, engines } = setUp();
    await engines.of(onLocal).start(sampleLaunch({ id: one }));
    await engines.of(onDocker).start(sampleLaunch({ id: two }));
    expect([await local.list(), await docker.list()]).toEqual([[one], [two]]);
  });

  it('lists what all engines hold, each with its engine', async () => {
    const { docker, engines } = setUp();
    await engines.of(onLocal).start(sampleLaunch({ id: one }));
    await engines.of(onDocker).start(sampleLaunch({ id: two }));
    expect(await idsOn(engines)).toEqual([one, two]);
    expect((await engines.list()).find(({ id }) => id === two)?.engine).toBe(docker);
  });

  it('lists the other engines when one cannot be reached', async () => {
    const docker = createFakeEngine();
    docker.list = () => Promise.reject(new Fault('unavailable', 'no docker here'));
    const { engines } = setUp(docker, true);
    await engines.of(onLocal).start(sampleLaunch({ id: one }));
    expect(await idsOn(engines)).toEqual([one]);
  });

  it.each([
    ['gives no answer in time', () => Promise.reject(new Fault('timeout', 'no answer'))],
    ['gives no answer', () => new Promise<never>(() => {})],
  ])('lists the other engines when one %s', async (_, list) => {
    vi.useFakeTimers();
    const docker = createFakeEngine();
    docker.list = list;
    const { engines } = setUp(docker, true);
    await engines.of(onLocal).start(sampleLaunch({ id: one }));
    const listed = idsOn(engines);
    await vi.advanceTimersByTimeAsync(5000);
    vi.useRealTimers();
    expect(await listed).toEqual([one]);
  });

  it('opens an engine once, when a sandbox on it is first needed', async () => {
    const { opened, engines } = setUp();
    expect(await idsOn(engines)).toEqual([]);
    await engines.dispose();
    expect(opened).toEqual(['local']);
    expect(engines.of(onDocker)).toBe(engines.of(onDocker));
    expect(opened).toEqual(['local', 'docker']);
  });

  it('opens an engine that an earlier daemon used, in order to list it', async () => {
    const docker = createFakeEngine();
    await docker.start(sampleLaunch({ id: one }));
    expect(await idsOn(setUp(docker, true).engines)).toEqual([one]);
  });

  it('passes changes on to listeners that subscribed before the engine was opened, until they unsubscribe', async () => {
    const { engines } = setUp();
    const heard: string[] = [];
    const leave = engines.onChange((id) => heard.push(id));
    await engines.of(onDocker).start(sampleLaunch({ id: one }));
    await engines.of(onDocker).stop(one, null, 0);
    expect(heard).toContain(one);
    leave();
    heard.length = 0;
    await engines.of(onDocker).remove(one, null);
    expect(heard).toEqual([]);
  });
});
