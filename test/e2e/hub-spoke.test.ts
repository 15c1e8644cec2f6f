/** The life of spokes: states, idleness, isolation. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProjectView } from '../../src/noun/project/api.ts';
import { Installation } from '../harness/installation.ts';

let carrel: Installation;

const folders = new Map<string, string>();
const folderOf = (id: string) => folders.get(id)!;
const content = (id: string) => `export const name = 'only-in-${id}';\n`;

beforeAll(async () => {
  carrel = new Installation();
  for (const id of ['shop', 'store']) {
    const folder = carrel.folder(id);
    folders.set(id, folder);
    mkdirSync(join(folder, 'src'));
    writeFileSync(join(folder, 'src/a.ts'), content(id));
    await carrel.ok('project', 'add', folder);
  }
});
afterAll(() => carrel.dispose());

const call = async (tool: string, input: object) =>
  JSON.parse(await carrel.ok('hub', 'call', tool, JSON.stringify(input))) as Record<string, unknown>;
const show = () => carrel.json<ProjectView>('project', 'show', 'shop');
const sh = async (project: string, script: string) =>
  (await call('run_command', { project, command: ['sh', '-c', script] })) as { exit_code: number; stdout: string };

/** The states of the spoke, from events. */
async function states(): Promise<string[]> {
  const events = await carrel.client.call('GET /v1/events', {});
  return events.flatMap(({ type, subject }) => (subject === 'shop' && type.startsWith('project.') ? type : []));
}

it('a spoke is registered, then healthy with the first call, and registered again under the next daemon', async () => {
  expect(await show()).toMatchObject({ state: 'registered', reason: null });
  await call('health_check', { project: 'shop' });
  expect(await show()).toMatchObject({ state: 'healthy', reason: null });
  await carrel.killDaemon();
  expect(await show()).toMatchObject({ state: 'registered', reason: null });
  await call('health_check', { project: 'shop' });
  expect(await show()).toMatchObject({ state: 'healthy' });
});

it('a time-out ends processes that a command detached, even those without its environment', async () => {
  const detach =
    'setsid sleep 1001 & (sleep 1002 & exec sleep 0) & env -i setsid sh -c "sleep 1003 & wait" & sleep 1000';
  const asked = { project: 'shop', command: ['sh', '-c', detach], timeout: 1 };
  expect(await call('run_command', asked)).toMatchObject({ timed_out: true, exit_code: null, signal: 'SIGTERM' });
  expect(await sh('shop', 'pgrep -f "sleep 100[0-9]"')).toMatchObject({ exit_code: 1, stdout: '' });
});

it('the spoke translates paths of the host and of the hub for the command, and those of the spoke in its output', async () => {
  const command = ['sh', '-c', 'cat /workspaces/shop/src/a.ts; echo "$0" "$WHERE" /workspace2; cd src && pwd'];
  const asked = {
    project: 'shop',
    command: [...command, join(folderOf('shop'), 'x')],
    env: { WHERE: '/workspaces/shop' },
  };
  expect(await call('run_command', asked)).toMatchObject({
    stdout: `${content('shop')}/workspaces/shop/x /workspaces/shop /workspace2\n/workspaces/shop/src\n`,
  });
  const path = join(folderOf('shop'), 'src/a.ts');
  expect(await call('read_file', { project: 'shop', path })).toMatchObject({ path: '/workspaces/shop/src/a.ts' });
});

it('one call runs a command in several projects', async () => {
  const command = ['cat', '/workspace/src/a.ts'];
  expect(await call('run_command', { projects: ['store', 'shop', 'store'], command })).toMatchObject({
    passed: true,
    results: [
      { project: 'store', stdout: content('store'), exit_code: 0 },
      { project: 'shop', stdout: content('shop'), exit_code: 0 },
    ],
  });
  const refused = await carrel.run(['hub', 'call', 'run_command', '{"command":["true"]}']);
  expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('either project or projects') });
});

describe('a spoke sees its own project only', () => {
  it('has no file of another project, nor of the host', async () => {
    const { stdout } = await sh(
      'shop',
      'grep -rl only-in-store /workspace /home /tmp /opt /run /var 2>/dev/null; true',
    );
    expect(stdout).toBe('');
    expect((await sh('shop', `ls ${carrel.home}`)).exit_code).not.toBe(0);
    expect((await sh('shop', `ls ${folderOf('store')}`)).exit_code).not.toBe(0);
  });

  it('has no process of another spoke in /proc', async () => {
    await call('health_check', { project: 'store' });
    await carrel.ok('exec', 'hub-store', '--', 'sh', '-c', 'sleep 4321 >/dev/null 2>&1 &');
    expect(await sh('shop', 'cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -c "sleep 432[1]"')).toMatchObject({
      stdout: '0\n',
    });
  });

  it('cannot connect to what another spoke listens on', async () => {
    const listen = `require('net').createServer((s) => s.end('store')).listen(4000, '0.0.0.0', () => console.log('ready'))`;
    await sh('store', `node -e "${listen}" > ready 2>&1 & until grep -q ready ready; do sleep 0.01; done; setsid true`);
    const connect = `require('net').connect(4000, '127.0.0.1').on('error', (e) => console.log(e.code)).on('data', console.log)`;
    expect(await sh('shop', `node -e "${connect}"`)).toMatchObject({ stdout: 'ECONNREFUSED\n' });
    const { stdout } = await sh('shop', 'cat /proc/net/dev | tail -n +3 | cut -d: -f1');
    expect(stdout.trim()).toBe('lo');
  });
});

it('a spoke stops after its idle time, but not during a call or an exec, and starts with the next call', async () => {
  const stateOf = async (id: string) => (await carrel.json<ProjectView>('project', 'show', id)).state;
  const script = 'touch begun; until [ -e end ]; do sleep 0.05; done; echo still here';
  await call('health_check', { project: 'store' });
  const open = carrel.ok('exec', 'hub-store', '--', 'sh', '-c', script);
  await carrel.ok('exec', 'hub-store', '--', 'sh', '-c', 'until [ -e begun ]; do sleep 0.01; done');
  carrel.write('home/config.yaml', 'hub: {idleMinutes: 0.01}\n');
  await call('health_check', { project: 'store' });
  expect(await sh('shop', 'sleep 2; echo done')).toMatchObject({ stdout: 'done\n' });
  await expect.poll(() => stateOf('shop'), { timeout: 20_000 }).toBe('registered');
  await expect.poll(() => carrel.json('show', 'hub-shop'), { timeout: 20_000 }).toMatchObject({ state: 'stopped' });
  expect(await stateOf('store')).toBe('healthy');
  writeFileSync(join(folderOf('store'), 'end'), '');
  expect(await open).toBe('still here\n');
  await expect.poll(() => stateOf('store'), { timeout: 20_000 }).toBe('registered');
  carrel.write('home/config.yaml', '');
  expect(await call('read_file', { project: 'shop', path: 'src/a.ts' })).toMatchObject({ lines: 1 });
  expect((await states()).slice(-2)).toEqual(['project.registered', 'project.healthy']);
});
