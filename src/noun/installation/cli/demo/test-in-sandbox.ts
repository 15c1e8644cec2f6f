/** Runs the tests of the sample project in a sandbox, because agents wrote its code. */
import type { Client } from '../../../../client/client.ts';

export interface Tested {
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly summary: string;
}

export async function testInSandbox(client: Client, project: string): Promise<Tested> {
  // A plain sandbox has only the programs below the host's /usr.
  if (!process.execPath.startsWith('/usr/')) return { outcome: 'skipped', summary: 'skipped: Node is not below /usr' };
  const command = [process.execPath, '--test', '--test-reporter=spec'];
  const { name } = await client.call('POST /v1/sandboxes', { body: { project, mode: 'overlay', command } });
  const { exitCode } = await client.call('GET /v1/sandboxes/{name}/wait', { path: { name } });
  const said: Buffer[] = [];
  for await (const frame of client.frames('GET /v1/sandboxes/{name}/logs', { path: { name } }))
    if (frame.type === 'stdout') said.push(frame.payload);
  await client.call('DELETE /v1/sandboxes/{name}', { path: { name }, query: { force: true } });
  const lines = Buffer.concat(said).toString('utf8').split('\n');
  return {
    outcome: exitCode === 0 ? 'passed' : 'failed',
    summary: lines.filter((line) => /^[✔✖]/.test(line)).join('\n'),
  };
}
