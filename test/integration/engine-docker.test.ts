/** The docker engine keeps the contract, on a dockerd of its own. */
import { randomBytes } from 'node:crypto';
import { appendFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { openDockerEngine } from '../../src/engine/docker/docker.ts';
import type { Launch } from '../../src/engine/engine.ts';
import { defaultLimits } from '../../src/model/limits.ts';
import type { EngineSetup } from '../conformance/engine/setup.ts';
import { shellCommands } from '../conformance/engine/shell-commands.ts';
import { engineConformance } from '../conformance/engine.ts';
import { Dockerd, image } from '../harness/dockerd.ts';

const shared = '/shared';

let dockerd: Dockerd;

beforeAll(async () => {
  dockerd = await Dockerd.open();
});

afterAll(() => dockerd.dispose());

engineConformance('docker', setup);

async function setup(): Promise<EngineSetup> {
  const folder = await mkdtemp(join(tmpdir(), 'carrel-engine-'));
  await mkdir(join(folder, 'shared'));
  const installation = randomBytes(4).toString('hex');
  const { socketPath } = dockerd;
  const reopen = async () => openDockerEngine({ folder: join(folder, 'engine'), installation, socketPath });
  return {
    engine: await reopen(),
    reopen,
    launch: (overrides) => ({ ...launch(folder), ...overrides }),
    shared: {
      touch: (name) => appendFile(join(folder, 'shared', name), ''),
      lines: async (name) =>
        (await readFile(join(folder, 'shared', name), 'utf8').catch(() => '')).split('\n').length - 1,
    },
    commands: shellCommands(shared),
    cleanup: () => rm(folder, { recursive: true }),
  };
}

function launch(folder: string): Launch {
  return {
    id: randomBytes(8).toString('hex'),
    hostname: 'box',
    slot: 0,
    runtime: null,
    root: { kind: 'image', reference: image },
    mounts: [{ kind: 'bind', source: join(folder, 'shared'), target: shared, readonly: false, own: true }],
    command: [],
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
    limits: { ...defaultLimits, memoryBytes: 256 * 1024 ** 2 },
    demanded: [],
    held: [],
    stdin: false,
    console: false,
  };
}
