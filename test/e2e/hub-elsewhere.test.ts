/** A project elsewhere: its spoke dials the hub's port, and is reached only over that connection. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { ProjectView } from '../../src/api/project.ts';
import { Installation } from '../harness/installation.ts';

let carrel: Installation;
let folder: string;
let url: string;
const programs: ChildProcess[] = [];

beforeAll(async () => {
  carrel = new Installation();
  folder = carrel.folder('away');
  writeFileSync(join(folder, 'a.ts'), 'export {};\n');
  carrel.write('home/config.yaml', 'http: {port: 0}\n');
  await carrel.ok('project', 'add', '--mode', 'elsewhere', '--name', 'away');
  await carrel.ok('project', 'add', folder, '--name', 'here');
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

/** Starts the program and waits for a line of it. */
async function dial(project: string, secret: string, awaited: RegExp): Promise<ChildProcess> {
  const program = spawn(process.execPath, [resolve('dist/agent/spoke/main.js'), '--connect', folder], {
    env: { PATH: process.env.PATH, CODEBUDDY_URL: url, PROJECT_ID: project, CODEBUDDY_TOKEN: secret },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  programs.push(program);
  let said = '';
  for await (const chunk of program.stderr!) {
    said += String(chunk);
    if (awaited.test(said)) return program;
  }
  throw new Error(`the program ended: ${said}`);
}

it('serves a project from where it is, and is unreachable without its connection', async () => {
  expect(await call('health_check', {})).toMatchObject({
    stderr: expect.stringMatching(/away is elsewhere and not connected[\s\S]*carrel-spoke --connect/),
  });
  const secret = await token('away');
  const program = await dial('away', secret, /connected/);
  await expect.poll(state).toBe('healthy');
  expect(JSON.parse((await call('read_file', { path: 'a.ts' })).stdout)).toMatchObject({ content: 'export {};\n' });
  expect(JSON.parse((await call('run_command', { command: ['pwd'] })).stdout)).toMatchObject({ stdout: `${folder}\n` });
  expect((await call('read_file', { path: '/etc/passwd' })).stderr).toMatch(/not relative to the project/);

  const running = call('run_command', {
    command: ['sh', '-c', 'touch running; while kill -0 $PPID; do sleep 0.05; done'],
  });
  await expect.poll(async () => (await call('list_files', {})).stdout).toContain('running');
  await end(program);
  expect((await running).stderr).toMatch(/spoke of project away ended during the call/);
  expect(await state()).toBe('unreachable');
  await dial('away', secret, /connected/);
  await expect.poll(state).toBe('healthy');
});

it('dials again after the daemon was killed', async () => {
  const secret = await token('away');
  carrel.write('home/config.yaml', `http: {port: ${new URL(url).port}}\n`);
  await dial('away', secret, /connected/);
  await carrel.killDaemon();
  await expect.poll(state, { timeout: 30_000 }).toBe('healthy');
});

it('refuses a token of clients, of another project, a revoked one, and a project whose spoke is here', async () => {
  await dial('away', await token('away', 'files,code,run'), /Unexpected server response: 403/);
  await dial('away', await token('here'), /Unexpected server response: 404/);
  await dial('here', await token('here'), /Unexpected server response: 409/);
  const secret = await token('*');
  await carrel.ok('hub', 'token', 'rm', '--all');
  await dial('away', secret, /Unexpected server response: 401/);
  expect(await state()).not.toBe('healthy');
});
