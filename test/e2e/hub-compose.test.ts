// @takes 30 s
/**
 * The real docker-compose runs a rendered fleet with its hub: an MCP client reaches the projects in their containers.
 * Projects of a hub on this machine have an image each.
 */
import { execFile } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/lib/process/run.ts';
import type { TokenView } from '../../src/noun/hub/api.ts';
import type { BuiltView } from '../../src/noun/image/api.ts';
import { openClient } from '../fixtures/mcp-port.ts';
import { image } from '../harness/dockerd.ts';
import { Installation, isServed, until } from '../harness/installation.ts';
import { NetworkedDockerd } from '../harness/networked-dockerd.ts';

const agent = 1000;
const containers = ['hub', 'app', 'api', 'prepare'].map((service) => `shop_${service}_1`);
let dockerd: NetworkedDockerd;
let carrel: Installation;
let folder: string;
let mcp: string;
let built: BuiltView;

beforeAll(async () => {
  dockerd = await NetworkedDockerd.open();
  carrel = new Installation(null, dockerd);
  folder = carrel.folder('fleet');
  chmodSync(folder, 0o755);
  for (const id of ['app', 'api', 'own']) {
    const project = join(folder, id);
    mkdirSync(project);
    writeFileSync(join(project, 'a.ts'), `export const ${id} = 1;\n`);
    for (const path of [project, join(project, 'a.ts')]) chownSync(path, agent, agent);
  }
  // The image of the projects has a static busybox and nothing else.
  const common = `engine: docker\nimage: ${image}\nprojects: {app: app, api: api}\n`;
  const api = '  api: {project: api, command: [sh, -c, "echo began; exec sleep 600"]}\n';
  writeFileSync(join(folder, 'carrel.yaml'), `name: shop\n${common}sandboxes:\n  app: {project: app}\n${api}`);
  built = await carrel.json<BuiltView>('image', 'build', '--hub');
  const { stdout } = await carrel.run(['compose'], { cwd: folder });
  writeFileSync(join(folder, 'docker-compose.yml'), stdout);
  const env = { PATH: process.env.PATH, DOCKER_HOST: `unix://${dockerd.socketPath}` };
  await promisify(execFile)('docker-compose', ['--ansi', 'never', '-p', 'shop', 'up', '-d'], { cwd: folder, env });
  mcp = `http://127.0.0.1:${await dockerd.reach(3000)}/mcp`;
}, 120_000);
afterAll(async () => {
  await dockerd.docker('rm', '--force', ...containers);
  await carrel.dispose();
  await dockerd.dispose();
}, 60_000);

const inHub = (...args: string[]) => dockerd.docker('exec', 'shop_hub_1', 'carrel', ...args);
const token = (project: string) => inHub('hub', 'token', '--project', project);

async function logsOf(service: string): Promise<string> {
  const { stdout, stderr } = await run([
    'docker',
    '--host',
    `unix://${dockerd.socketPath}`,
    'logs',
    `shop_${service}_1`,
  ]);
  return stdout + stderr;
}

/** What the tool answers, or the text of its refusal. */
async function call(client: Client, name: string, input: object): Promise<unknown> {
  const { structuredContent, content } = await client.callTool({ name, arguments: { ...input } });
  return structuredContent ?? JSON.stringify(content);
}

const read = (client: Client, project: string) => call(client, 'read_file', { project, path: 'a.ts' });
const isAnswering = (client: Client, project: string) =>
  expect
    .poll(() => call(client, 'health_check', { project }), { timeout: 20_000 })
    .toMatchObject({ project, healthy: true });

it('an MCP client lists the projects, and reads, searches and runs in their containers', async () => {
  expect(built).toMatchObject({ built: true, image: { name: 'carrel-hub:latest', source: 'hub', state: 'ready' } });
  const client = await openClient(mcp, 'HTTP', true, await token('app,api'));
  expect(await call(client, 'list_projects', {})).toMatchObject({
    projects: [
      { id: 'app', path: '/workspaces/app', mode: 'elsewhere' },
      { id: 'api', path: '/workspaces/api', mode: 'elsewhere' },
    ],
  });
  for (const id of ['app', 'api']) await isAnswering(client, id);
  expect(await read(client, 'api')).toMatchObject({ content: 'export const api = 1;\n' });
  const command = ['sh', '-c', 'id -u; echo x > made; ls'];
  expect(await call(client, 'run_command', { project: 'app', command })).toMatchObject({
    stdout: '1000\na.ts\nmade\n',
  });
  expect(await call(client, 'search_text', { project: 'app', pattern: 'const app' })).toMatchObject({
    matches: [{ path: '/workspaces/app/a.ts' }],
  });
  const symbols = await call(client, 'get_document_symbols', { project: 'app', path: 'a.ts' });
  expect(symbols).toMatchObject({ status: 'complete', server: 'typescript' });
  expect(await logsOf('api')).toMatch(/^began$/m);
  await client.close();
});

it('a token of one project reaches no other, and no token is in the settings of a container', async () => {
  const client = await openClient(mcp, 'WebSocket', false, await token('app'));
  expect(await read(client, 'app')).toMatchObject({ content: 'export const app = 1;\n' });
  expect(await read(client, 'api')).toMatch(/no project api/);
  await client.close();
  expect(await dockerd.docker('inspect', ...containers)).not.toContain('eyJ');
});

it('a revoked token ends the connection of its project, until the token file has another one', async () => {
  const tokens = JSON.parse(await inHub('--json', 'hub', 'token', 'ls')) as TokenView[];
  const { id } = tokens.find(({ projects, groups }) => groups[0] === 'spoke' && projects[0] === 'app')!;
  const client = await openClient(mcp, 'HTTP', true, await token('app'));
  await inHub('hub', 'token', 'rm', id);
  expect(await read(client, 'app')).toMatch(/not connected/);
  await expect
    .poll(() => logsOf('app'), { timeout: 10_000 })
    .toMatch(/the hub refuses the connection: the token is refused: it was revoked/);
  const file = '/run/carrel/spokes/app/token';
  await inHub('hub', 'token', '--project', 'app', '--tools', 'spoke', '--expires', '366d', '--file', file);
  await isAnswering(client, 'app');
  await client.close();
});

describe('a project with an image', () => {
  const toolchain = 'toolchain:latest';
  const callHere = (tool: string, input: object) => carrel.run(['--json', 'hub', 'call', tool, JSON.stringify(input)]);
  const answer = async (tool: string, input: object) =>
    JSON.parse((await callHere(tool, { project: 'own', ...input })).stdout) as unknown;

  beforeAll(async () => {
    const context = carrel.folder('toolchain');
    writeFileSync(join(context, 'toolchain'), 'own\n');
    const from = 'COPY --from=carrel-hub:latest /opt/carrel';
    const copies = [`${from}/node /opt/carrel/node`, `${from}/bin/node ${process.execPath}`, `${from}/path/rg /bin/rg`];
    const lines = [`FROM ${image}`, ...copies, 'COPY toolchain /etc/toolchain'];
    writeFileSync(join(context, 'Dockerfile'), lines.join('\n'));
    await dockerd.docker('build', '-t', toolchain, context);
    carrel.write('home/config.yaml', `docker: {socket: ${dockerd.socketPath}}\nimages: [${image}, ${toolchain}]\n`);
    await carrel.ok('project', 'add', join(folder, 'own'), '--image', toolchain, '--test', 'cat /etc/toolchain');
  });

  it('is read, searched, analysed and tested with the programs of the image', async () => {
    expect(await answer('read_file', { path: 'a.ts' })).toMatchObject({ content: 'export const own = 1;\n' });
    expect(await answer('search_text', { pattern: 'own' })).toMatchObject({ matches: [{ line: 1 }] });
    const symbols = await answer('get_document_symbols', { path: 'a.ts' });
    expect(symbols).toMatchObject({ status: 'complete', server: 'typescript', symbols: [{ name: 'own' }] });
    const tests = await callHere('run_tests', { projects: ['own'] });
    expect(JSON.parse(tests.stdout)).toMatchObject({ passed: true, results: [{ stdout: 'own\n' }] });
    expect(await carrel.show('hub-own')).toMatchObject({ engine: 'docker', image: { name: toolchain } });
  });

  it('runs again after its container was killed', async () => {
    await dockerd.docker('kill', (await dockerd.docker('ps', '-q', '--filter', `ancestor=${toolchain}`)).trim());
    await expect.poll(() => answer('health_check', {}), { timeout: 20_000 }).toMatchObject({ healthy: true });
  });

  it('is refused with the reason if the image has no Node, or is not allowed', async () => {
    await carrel.ok('project', 'add', join(folder, 'api'), '--image', image);
    const refused = (stderr: RegExp) => ({ stderr: expect.stringMatching(stderr) as string });
    expect(await callHere('health_check', { project: 'api' })).toMatchObject(refused(/no Node\.js in this sandbox/));
    await carrel.ok('project', 'add', join(folder, 'app'), '--image', 'other');
    expect(await callHere('health_check', { project: 'app' })).toMatchObject(refused(/not among the images/));
    const elsewhere = ['project', 'add', '--mode', 'elsewhere', '--name', 'far', '--image', image];
    expect(await carrel.run(elsewhere)).toMatchObject({ exitCode: 2, ...refused(/has no image/) });
  });
});

it('the projects register again after a restart of the hub, whose tokens stay valid', async () => {
  const secret = await token('*');
  await dockerd.docker('restart', '--time', '5', 'shop_hub_1');
  await until(() => isServed(new URL('/health', mcp)), 'the hub to answer');
  const client = await openClient(mcp, 'HTTP', true, secret);
  for (const id of ['app', 'api']) await isAnswering(client, id);
  await client.close();
});
