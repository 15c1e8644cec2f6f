/** A project elsewhere: its spoke connects to the hub's port, and the hub reaches it only over that connection. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { ProjectView } from '../../src/noun/project/api.ts';
import { Installation } from '../harness/installation.ts';

let carrel: Installation;
let folder: string;
let url: string;
let program: string;
const programs: ChildProcess[] = [];

beforeAll(async () => {
  carrel = new Installation();
  folder = carrel.folder('away');
  writeFileSync(join(folder, 'a.ts'), 'export {};\n');
  carrel.write('home/config.yaml', 'http: {port: 0}\n');
  await carrel.ok('project', 'add', '--mode', 'elsewhere', '--name', 'away');
  await carrel.ok('project', 'add', folder, '--name', 'here');
  program = join(carrel.folder('there'), 'carrel-spoke.mjs');
  writeFileSync(program, await carrel.ok('hub', 'spoke'));
  url = (await carrel.json<{ mcp: string }>('status')).mcp.replace(/^http/, 'ws');
});
afterEach(async () => {
  await Promise.all(programs.splice(0).map(end));
});
afterAll(() => carrel.dispose());

const token = async (project: string, tools = 'spoke') =>
  (await carrel.ok('hub', 'token', '--project', project, '--tools', tools)).trim();
const call = (tool: string, input: object) =>
  carrel.run(['hub', 'call', tool, JSON.stringify({ project: 'away', ...input })]);
const state = async () => (await carrel.json<ProjectView>('project', 'show', 'away')).state;

async function end(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return;
  program.kill('SIGKILL');
  await once(program, 'exit');
}

/** Starts the spoke and waits until it writes such a line. */
async function dial(project: string, secret: string, awaited: RegExp): Promise<ChildProcess> {
  const started = begin({ PROJECT_ID: project, CODEBUDDY_TOKEN: secret });
  await said(started, awaited);
  return started;
}

function begin(env: Readonly<Record<string, string>>): ChildProcess {
  const started = spawn(process.execPath, [program, '--connect', folder], {
    env: { PATH: process.env.PATH, CODEBUDDY_URL: url, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  programs.push(started);
  return started;
}

/** Waits until the program writes text that matches from now on. */
async function said(started: ChildProcess, awaited: RegExp): Promise<void> {
  let text = '';
  const tooLate = setTimeout(() => started.kill('SIGKILL'), 20_000);
  try {
    for await (const chunk of started.stderr!.iterator({ destroyOnReturn: false })) {
      text += String(chunk);
      if (awaited.test(text)) return;
    }
    throw new Error(`the program ended: ${text}`);
  } finally {
    clearTimeout(tooLate);
  }
}

it('a spoke elsewhere serves its project, and is unreachable without its connection', async () => {
  expect(await call('health_check', {})).toMatchObject({
    stderr: expect.stringMatching(/away is elsewhere and not connected[\s\S]*carrel hub spoke/),
  });
  const secret = await token('away');
  const started = await dial('away', secret, /connected/);
  await expect.poll(state).toBe('healthy');
  expect(JSON.parse((await call('read_file', { path: 'a.ts' })).stdout)).toMatchObject({ content: 'export {};\n' });
  expect(JSON.parse((await call('run_command', { command: ['pwd'] })).stdout)).toMatchObject({ stdout: `${folder}\n` });
  expect((await call('read_file', { path: '/etc/passwd' })).stderr).toMatch(/not relative to the project/);

  const running = call('run_command', {
    command: ['sh', '-c', 'touch running; while kill -0 $PPID; do sleep 0.05; done'],
  });
  await expect.poll(async () => (await call('list_files', {})).stdout).toContain('running');
  await end(started);
  expect((await running).stderr).toMatch(/spoke of project away ended during the call/);
  expect(await state()).toBe('unreachable');
  await dial('away', secret, /connected/);
  await expect.poll(state).toBe('healthy');
});

it('a spoke connects again after the daemon was killed', async () => {
  const secret = await token('away');
  carrel.write('home/config.yaml', `http: {port: ${new URL(url).port}}\n`);
  await dial('away', secret, /connected/);
  await carrel.killDaemon();
  await expect.poll(state, { timeout: 30_000 }).toBe('healthy');
});

it('the hub refuses a token of clients, one of another project, a revoked one, and a project with a spoke here', async () => {
  await dial(
    'away',
    await token('away', 'files,code,run'),
    /refuses the connection: this token is not for spokes\n.*--tools spoke/,
  );
  await dial('away', await token('here'), /refuses the connection: no such project/);
  await dial(
    'here',
    await token('here'),
    /refuses the connection: the spoke of project here is a sandbox of this machine/,
  );
  const secret = await token('*');
  await carrel.ok('hub', 'token', 'rm', '--all');
  await dial('away', secret, /refuses the connection: the token is refused: .*\n {2}hint: Make another one/);
  expect(await state()).not.toBe('healthy');
});

it('revoking a token ends the connection at once, and a new token in the file opens it again', async () => {
  const file = join(carrel.folder('tokens'), 'token');
  const makeToken = () => carrel.ok('hub', 'token', '--project', 'away', '--tools', 'spoke', '--file', file);
  const id = (await makeToken()).trim();
  expect([id, statSync(file).mode & 0o777]).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/), 0o600]);
  const started = begin({ PROJECT_ID: 'away', CODEBUDDY_TOKEN_FILE: file });
  await said(started, /connected/);
  await expect.poll(state).toBe('healthy');
  const ended = said(started, /closed the connection \(1008 .*revoked\)[\s\S]*refuses the connection: .*revoked/);
  await carrel.ok('hub', 'token', 'rm', id);
  expect((await call('read_file', { path: 'a.ts' })).stderr).toMatch(/not connected/);
  await ended;
  await makeToken();
  await said(started, /connected/);
  await expect.poll(state).toBe('healthy');
  expect(JSON.parse((await call('read_file', { path: 'a.ts' })).stdout)).toMatchObject({ content: 'export {};\n' });
});

it('a spoke connects with TLS, and only to a hub whose certificate it trusts', async () => {
  const [cert, key] = ['cert.pem', 'key.pem'].map((name) => join(carrel.home, name));
  const names = ['-subj', '/CN=hub', '-addext', 'subjectAltName=DNS:localhost'];
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', ...names];
  execFileSync('openssl', [...made, '-keyout', key!, '-out', cert!], { stdio: 'ignore' });
  await carrel.ok('down');
  carrel.write('home/config.yaml', `http: {port: 0, tls: {cert: ${cert}, key: ${key}}}\n`);
  const secret = await token('away');
  const { port } = new URL((await carrel.json<{ mcp: string }>('status')).mcp);
  const where = { CODEBUDDY_URL: `wss://localhost:${port}`, PROJECT_ID: 'away', CODEBUDDY_TOKEN: secret };
  await said(begin(where), /cannot be reached: self-signed certificate(?:; .*)?\n {2}hint: NODE_EXTRA_CA_CERTS/);
  await said(begin({ ...where, NODE_EXTRA_CA_CERTS: cert! }), /connected/);
  await expect.poll(state).toBe('healthy');
  await said(begin({ ...where, CODEBUDDY_URL: `ws://localhost:${port}` }), /cannot be reached/);
});
