/** Chroma in sandboxes, with the real server: what they share, and what they do not reach. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { MemoryStatsView } from '../../src/noun/memory/api.ts';
import type { ways } from '../fixtures/attacks/testbed.ts';
import { provideChroma } from '../harness/chroma.ts';
import { Dockerd } from '../harness/dockerd.ts';
import { Installation, until } from '../harness/installation.ts';
import { createRootlessAccount, type RootlessAccount } from '../harness/rootless.ts';

const base = 'http://127.0.0.1:8000/api/v2/tenants/default_tenant/databases/default_database';

/** Sends a request from a sandbox: a GET without a body, a POST with one. Null: there is no answer, or a refusal. */
export async function ask(carrel: Installation, sandbox: string, path: string, body?: object): Promise<unknown> {
  const url = path.startsWith('http') ? path : `${base}${path}`;
  const sent = body === undefined ? [] : ['--post-data', JSON.stringify(body)];
  const type = ['--header', 'content-type: application/json'];
  const argv = ['wget', '-q', '-O', '-', ...type, ...sent, url];
  const { exitCode, stdout } = await carrel.run(['exec', sandbox, '--', 'busybox', ...argv]);
  return exitCode === 0 ? JSON.parse(stdout) : null;
}

export async function chromaReady(carrel: Installation): Promise<void> {
  await until(
    async () => (await carrel.json<MemoryStatsView>('memory', 'stats')).chroma?.state === 'ready',
    'the Chroma server',
  );
}

export function chromaInSandboxes(way: (typeof ways)[number]): void {
  let account: RootlessAccount | null;
  let dockerd: Dockerd | null;
  let carrel: Installation;

  beforeAll(async () => {
    account = way === 'rootless' ? createRootlessAccount() : null;
    dockerd = way === 'docker' ? await Dockerd.open() : null;
    carrel = new Installation(account, dockerd);
    provideChroma(carrel.home);
    const docker = dockerd === null ? '' : `docker: {socket: ${dockerd.socketPath}}\nimages: [carrel-test]\n`;
    writeFileSync(join(carrel.home, 'config.yaml'), `${docker}memory: {chroma: {server: local}}\n`);
    await Promise.all([
      carrel.ok('create', '--name', 'one', '--memory-scope', 'user'),
      carrel.ok('create', '--name', 'two', '--memory-scope', 'user:ro'),
      carrel.ok('create', '--name', 'other', '--memory-scope', 'sandbox'),
      carrel.ok('create', '--name', 'bare'),
    ]);
    await chromaReady(carrel);
  }, 90_000);
  afterAll(async () => {
    await carrel.dispose();
    await dockerd?.dispose();
    account?.dispose();
  }, 60_000);

  it('a sandbox with the same scope finds what another one adds, and no other sandbox does', async () => {
    const made = (await ask(carrel, 'one', '/collections', { name: 'notes' })) as { id: string; tenant: string };
    const record = { ids: ['a'], embeddings: [[1, 2]], documents: ['the port is 5433'] };
    expect(await ask(carrel, 'one', `/collections/${made.id}/add`, record)).toEqual({});
    expect(await ask(carrel, 'two', '/collections/notes')).toMatchObject({ id: made.id, database: 'user' });
    const query = { query_embeddings: [[1, 2]], n_results: 1 };
    expect(await ask(carrel, 'two', `/collections/${made.id}/query`, query)).toMatchObject({
      documents: [['the port is 5433']],
    });
    expect(await ask(carrel, 'two', `/collections/${made.id}/add`, record)).toBeNull();
    expect(await ask(carrel, 'other', '/collections')).toEqual([]);
    expect(await ask(carrel, 'other', `/collections/${made.id}/get`, {})).toBeNull();
    expect(await ask(carrel, 'bare', '/collections')).toBeNull();
    const env = await carrel.ok('exec', 'one', '--', 'sh', '-c', 'echo $CHROMA_TENANT $CHROMA_DATABASE');
    expect(env.trim()).toBe(`${made.tenant} user`);
  });
}
