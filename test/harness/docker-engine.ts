/** An engine over a dockerd of the test's own, with a folder that its sandboxes share with the test. */
import { appendFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { openDockerEngine } from '../../src/kernel/engine/docker/docker.ts';
import type { Engine, Launch } from '../../src/kernel/engine/engine.ts';
import { defaultLimits } from '../../src/model/limits.ts';
import type { EngineSetup } from '../conformance/engine/setup.ts';
import { shellCommands } from '../conformance/engine/shell-commands.ts';
import { sampleLaunch } from '../fixtures/launch.ts';
import { type Dockerd, image } from './dockerd.ts';
import { installationId } from './run.ts';

const shared = '/shared';

export interface DockerSetup extends EngineSetup {
  readonly folder: string;
  readonly installation: string;
}

export async function dockerSetup({ socketPath }: Pick<Dockerd, 'socketPath'>): Promise<DockerSetup> {
  const folder = await mkdtemp(join(tmpdir(), 'carrel-engine-'));
  await mkdir(join(folder, 'shared'));
  const installation = installationId();
  const reopen = async () => openDockerEngine({ folder: join(folder, 'engine'), installation, socketPath });
  return {
    folder,
    installation,
    engine: await reopen(),
    reopen,
    launch: (overrides) => ({ ...launchIn(folder), ...overrides }),
    shared: {
      touch: (name) => appendFile(join(folder, 'shared', name), ''),
      lines: async (name) =>
        (await readFile(join(folder, 'shared', name), 'utf8').catch(() => '')).split('\n').length - 1,
    },
    commands: shellCommands(shared),
    cleanup: () => rm(folder, { recursive: true }),
  };
}

function launchIn(folder: string): Launch {
  return sampleLaunch({
    root: { kind: 'image', reference: image },
    mounts: [{ kind: 'bind', source: join(folder, 'shared'), target: shared, readonly: false, own: true }],
    env: { PATH: '/usr/bin:/bin' },
    limits: { ...defaultLimits, memoryBytes: 256 * 1024 ** 2 },
  });
}

/** Runs a command to its end in a sandbox of its own, and returns its output. */
export async function outputOf(engine: Engine, launch: Launch): Promise<string> {
  await engine.start({ ...launch, console: true });
  const console = await engine.attach(launch.id, null);
  const text: string[] = [];
  for (const stream of [console.stdout, console.stderr]) stream.on('data', (chunk: Buffer) => text.push(`${chunk}`));
  await Promise.all([finished(console.stdout), finished(console.stderr)]);
  await engine.remove(launch.id, null);
  return text.join('');
}
