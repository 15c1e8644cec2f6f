// @needs root
// @needs first-node
/** The docker engine keeps the contract on Podman, too. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DockerImages } from '../../src/kernel/engine/docker/image/images.ts';
import { dockerSetup } from '../harness/docker-engine.ts';
import { isRepeated } from '../harness/machine.ts';
import { Podman } from '../harness/podman.ts';
import { codeOf } from './engine/trial.ts';
import { coreParts, engineConformance, everyPart, mountConformance } from './engine.ts';

let podman: Podman;

beforeAll(async () => {
  podman = await Podman.open();
});

afterAll(() => podman.dispose());

engineConformance('podman', () => dockerSetup(podman), isRepeated ? everyPart : coreParts);
if (isRepeated) mountConformance('podman', () => dockerSetup(podman));

// Podman sets the size of an exec's terminal shortly after its command has started, until a version that takes `ConsoleSize`.
it('an exec gets a terminal of its size, and start calls the network hook before the command starts', async () => {
  const { engine, launch, shared, commands, cleanup } = await dockerSetup(podman);
  const one = launch({ command: commands.countAndWait('runs') });
  let runsBefore = -1;
  const { handle } = await engine.start(one, async (init) => {
    init();
    runsBefore = await shared.lines('runs');
  });
  expect(runsBefore).toBe(0);
  const terminal = { rows: 33, columns: 101 };
  const untilSized = 'until size=$(stty size 2>/dev/null) && [ -n "$size" ]; do sleep 0.01; done; echo $size';
  const spec = { command: ['/bin/sh', '-c', untilSized], env: {}, cwd: '/', stdin: true, terminal };
  const process = await engine.exec(one.id, handle, spec);
  expect((await process.stdout.toArray()).join('').trim()).toBe('33 101');
  await engine.remove(one.id, handle);
  await engine.dispose();
  await cleanup();
});

it('a build on Podman is refused as unsupported', async () => {
  expect(await codeOf(new DockerImages(podman.socketPath).requireBuilder())).toBe('unsupported');
});

it('a start with another runtime than that of Podman is refused as unsupported', async () => {
  const { engine, launch, cleanup } = await dockerSetup(podman);
  expect(await codeOf(engine.start(launch({ runtime: 'crun' })))).toBe('unsupported');
  await engine.dispose();
  await cleanup();
});
