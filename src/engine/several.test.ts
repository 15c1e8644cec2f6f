import { describe, expect, it } from 'vitest';
import { sampleLaunch } from '../../test/fixtures/launch.ts';
import { Fault } from '../model/fault.ts';
import type { EngineName } from '../model/sandbox.ts';
import type { Engine } from './engine.ts';
import { createFakeEngine } from './fake.ts';
import { lazyEngine, severalEngines } from './several.ts';

const launch = (id: string) => sampleLaunch({ id });
const [one, two] = ['1'.repeat(16), '2'.repeat(16)];

function setUp(docker: Engine = createFakeEngine()) {
  const local = createFakeEngine();
  const on = new Map<string, EngineName>([
    [one, 'local'],
    [two, 'docker'],
  ]);
  return { local, docker, on, engine: severalEngines({ local, docker }, (id) => on.get(id) ?? null) };
}

describe('several engines', () => {
  it('have each sandbox on the one its record names', async () => {
    const { local, docker, engine } = setUp();
    await engine.start(launch(one));
    await engine.start(launch(two));
    expect([await local.list(), await docker.list()]).toEqual([[one], [two]]);
    expect((await engine.inspect(two, null)).kind).toBe('running');
    expect([...(await engine.list())].sort()).toEqual([one, two]);
    await engine.remove(two, null);
    expect(await docker.list()).toEqual([]);
  });

  it('remove what has no record wherever it is', async () => {
    const { docker, on, engine } = setUp();
    await engine.start(launch(two));
    on.delete(two);
    await engine.remove(two, null);
    expect(await docker.list()).toEqual([]);
  });

  it('go on when one of them cannot be reached', async () => {
    const gone = new Fault('unavailable', 'no docker here');
    const broken = { ...createFakeEngine(), list: () => Promise.reject(gone), inspect: () => Promise.reject(gone) };
    const { engine } = setUp({ ...broken, onChange: () => () => {} } as unknown as Engine);
    await engine.start(launch(one));
    expect(await engine.list()).toEqual([one]);
    await expect(engine.inspect(two, null)).rejects.toThrow('no docker here');
  });
});

describe('a lazy engine', () => {
  it('is opened by the first who needs it, and tells those who listened before', async () => {
    let opened = 0;
    const fake = createFakeEngine();
    const open = () => {
      opened += 1;
      return fake;
    };
    const lazy = lazyEngine('docker', open, () => false);
    const heard: string[] = [];
    lazy.onChange((id) => heard.push(id));
    expect(await lazy.list()).toEqual([]);
    await lazy.dispose();
    expect(opened).toBe(0);
    await lazy.start(launch(one));
    await lazy.stop(one, null, 0);
    expect(opened).toBe(1);
    expect(heard).toContain(one);
  });

  it('that an earlier daemon used lists what it holds, whether or not a record names it', async () => {
    const fake = createFakeEngine();
    await fake.start(launch(one));
    const lazy = lazyEngine(
      'docker',
      () => fake,
      () => true,
    );
    expect(await lazy.list()).toEqual([one]);
  });
});
