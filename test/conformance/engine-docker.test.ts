// @needs root
// @takes 45 s
/** The docker engine keeps the contract, on a dockerd of its own. */
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDockerEngine } from '../../src/kernel/engine/docker/docker.ts';
import { dockerSetup } from '../harness/docker-engine.ts';
import { Dockerd } from '../harness/dockerd.ts';
import { engineConformance, mountConformance } from './engine.ts';

let dockerd: Dockerd;

beforeAll(async () => {
  dockerd = await Dockerd.open();
});

afterAll(() => dockerd.dispose());

engineConformance('docker', () => dockerSetup(dockerd));
mountConformance('docker', () => dockerSetup(dockerd));

/** A proxy of the engine that calls `first` before it passes on a request with `text` in it. */
function behind(dockerd: Dockerd, text: string, first: () => Promise<unknown>): Server {
  return createServer((client) => {
    const delayed = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        const before = chunk.includes(text) ? first() : Promise.resolve();
        before.then(() => done(null, chunk), done);
      },
    });
    const engine = connect(dockerd.socketPath);
    for (const stream of [client, delayed, engine]) stream.on('error', () => client.destroy());
    client.pipe(delayed).pipe(engine).pipe(client);
  });
}

it('attach is refused for a sandbox that ends before the Docker Engine attaches', async () => {
  const setup = await dockerSetup(dockerd);
  const launch = setup.launch({ command: setup.commands.wait, stdin: true });
  const server = behind(dockerd, '/attach?', () => setup.engine.stop(launch.id, null, 0));
  const socketPath = join(setup.folder, 'docker.sock');
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  const { folder, installation } = setup;
  const engine = openDockerEngine({ folder: join(folder, 'engine'), installation, socketPath });
  try {
    await setup.engine.start(launch);
    await expect(engine.attach(launch.id, null)).rejects.toMatchObject({ code: 'not_ready' });
  } finally {
    await setup.engine.remove(launch.id, null);
    await engine.dispose();
    await setup.engine.dispose();
    server.close();
    await setup.cleanup();
  }
});
