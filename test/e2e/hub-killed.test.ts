/**
 * Spokes and environments are killed during each tool: the tool fails with a clear error, nothing is half done, and the
 * next call works.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { processRef } from '../../src/lib/process/process.ts';
import type { ProjectView } from '../../src/noun/project/api.ts';
import { callTool, connectHub } from '../harness/hub-client.ts';
import { Installation, until } from '../harness/installation.ts';

let carrel: Installation;
let shop: string;
let client: Client;

const files = {
  'tsconfig.json': '{"compilerOptions":{"strict":true}}',
  'src/cart.ts': 'export class Cart {\n  total(count: number) {\n    return count;\n  }\n}\n',
  'src/main.ts': "import { Cart } from './cart';\nnew Cart().total(1);\n",
};
/** Makes a file when it runs, and waits until its command is killed. */
const testCommand = 'touch running; sleep 77; echo "not ok 1 - adds numbers"; echo " FAIL  /workspace/a > b"; exit 1';
const program = 'lib/carrel-spok[e]';

beforeAll(async () => {
  carrel = new Installation();
  for (const id of ['shop', 'store']) {
    const folder = carrel.folder(id);
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    await carrel.ok('project', 'add', folder, '--test', testCommand);
    if (id === 'shop') shop = folder;
  }
  const args = ['--tools', 'files,code,run,environment,apply'];
  client = await connectHub(carrel, { args, answer: () => ({ action: 'accept', content: {} }) });
});
afterAll(async () => {
  await client.close();
  await carrel.dispose();
});

const call = (tool: string, input: object) => callTool(client, tool, input);
const state = () => carrel.json<ProjectView>('project', 'show', 'shop');
const signal = (sandbox: string, name: string) => carrel.ok('exec', sandbox, '--', 'pkill', `-${name}`, '-f', program);

/** Stops the program of a spoke before the call and kills it during the call, so that it cannot have answered. */
async function killDuring(tool: string, input: object): Promise<string> {
  for (;;) {
    await call('health_check', { project: 'shop' });
    await signal('hub-shop', 'STOP');
    const failed = call(tool, input).then(
      () => null,
      (error: Error) => error.message,
    );
    await carrel.ok('project', 'ls');
    await signal('hub-shop', 'KILL');
    const message = await failed;
    // A call that arrives after the end of the program starts the next one and succeeds.
    if (message !== null) return message;
  }
}

/** Kills the first process of a sandbox, which ends all others. */
async function killSandbox(name: string): Promise<void> {
  const { id } = await carrel.show(name);
  const file = join(carrel.home, 'engine/run', id, 'pid');
  await until(() => existsSync(file) && readFileSync(file, 'utf8') !== '', `the process of ${name}`);
  const pid = Number(readFileSync(file, 'utf8'));
  if (processRef(pid)) process.kill(pid, 'SIGKILL');
  await until(() => !processRef(pid), `the end of ${name}`);
}

/** The states of the spoke, from events. */
async function states(): Promise<string[]> {
  const events = await carrel.client.call('GET /v1/events', {});
  return events.flatMap(({ type, subject }) => (subject === 'shop' && type.startsWith('project.') ? type : []));
}

const [project, path] = ['shop', 'src/cart.ts'];
const at = { project, path: 'src/main.ts', line: 2, column: 14 };
const dry = { project, path, dry_run: true };

describe('a spoke that is killed during a call', () => {
  it.each<[string, object]>([
    ['health_check', { project }],
    ['read_file', { project, path }],
    ['write_file', { ...dry, content: 'x' }],
    ['create_file', { ...dry, path: 'new', content: 'x' }],
    ['rename_file', { project, from: 'tsconfig.json', to: 'b', dry_run: true }],
    ['delete_file', dry],
    ['list_files', { project }],
    ['search_text', { project, pattern: 'x' }],
    ['run_command', { project, command: ['true'] }],
    ['find_definition', at],
    ['find_references', at],
    ['find_implementations', at],
    ['find_type_definition', at],
    ['get_hover', at],
    ['get_document_symbols', { project, path }],
    ['search_workspace_symbols', { project, path, query: 'Cart' }],
    ['get_signature_help', { ...at, column: 18 }],
    ['get_completions', at],
    ['get_diagnostics', { project, path }],
    ['get_call_hierarchy', at],
    ['rename_symbol', { ...at, new_name: 'sum' }],
    ['organize_imports', dry],
    ['format_document', dry],
    ['get_code_actions', { project, path }],
    ['apply_workspace_edit', { changes: [{ kind: 'create', project, path: 'made', content: 'x' }] }],
    ['rename_file', { project, from: path, to: 'src/basket.ts' }],
  ])('%s fails with its end, changes nothing, and works when it is called again', async (tool, input) => {
    expect(await killDuring(tool, input)).toMatch(
      /^unavailable: the spoke of project shop ended .* \(SIGKILL\)\nhint: /,
    );
    for (const [name, text] of Object.entries(files)) expect(readFileSync(join(shop, name), 'utf8')).toBe(text);
    await call(tool, 'dry_run' in input || !/^(rename|apply)/.test(tool) ? input : { ...input, dry_run: true });
    expect((await states()).slice(-2)).toEqual(['project.unreachable', 'project.healthy']);
  });

  it('leaves no language server behind', async () => {
    await call('get_hover', at);
    await signal('hub-shop', 'KILL');
    await expect.poll(state).toMatchObject({ state: 'unreachable', reason: 'SIGKILL' });
    const command = ['pgrep', '-f', 'ts[c]'];
    await expect.poll(() => call('run_command', { project, command })).toMatchObject({ exit_code: 1, stdout: '' });
  });

  it('leaves no command behind, and one project that fails does not fail the tests of the others', async () => {
    const tests = call('run_tests', { projects: ['shop', 'store'], timeout: 60 });
    const running = 'until [ -e running ]; do sleep 0.01; done';
    for (const id of ['hub-shop', 'hub-store']) await carrel.ok('exec', id, '--', 'sh', '-c', running);
    await signal('hub-shop', 'KILL');
    await carrel.ok('exec', 'hub-store', '--', 'pkill', '-x', '-f', 'sleep 77');
    expect(await tests).toMatchObject({
      passed: false,
      results: [
        { project: 'shop', error: expect.stringMatching(/^unavailable: /), exit_code: null },
        { project: 'store', error: null, failed_tests: ['adds numbers', '/workspaces/store/a > b'] },
      ],
    });
    const command = ['pgrep', '-x', '-f', 'sleep 77'];
    expect(await call('run_command', { project, command })).toMatchObject({ exit_code: 1, stdout: '' });
  });
});

describe('an environment', () => {
  const run = (environment: string, script: string) =>
    call('environment_run', { project, environment, command: ['sh', '-c', script] });

  async function made(name: string): Promise<string> {
    const { environment } = await call('environment_create', { project, name });
    await run(environment as string, `echo kept > ${name}`);
    return environment as string;
  }

  it.each(['program', 'sandbox'])('whose %s is killed fails its command, and runs the next one', async (killed) => {
    const environment = await made(`run-${killed}`);
    const failed = expect(run(environment, 'touch /tmp/running; sleep 78')).rejects.toThrow(
      /^unavailable: the spoke of environment shop-run-\w+ ended during the call \(SIGKILL\)\nhint: /,
    );
    await carrel.ok('exec', environment, '--', 'sh', '-c', 'until [ -e /tmp/running ]; do sleep 0.01; done');
    if (killed === 'program') await signal(environment, 'KILL');
    else await killSandbox(environment);
    await failed;
    const command = 'cat run-*; pgrep -x -f "sleep 78"';
    expect(await run(environment, command)).toMatchObject({ exit_code: 1, stdout: 'kept\n' });
  });

  it.each<[string, object]>([
    ['environment_list', { project }],
    ['environment_diff', { project }],
    ['environment_snapshot', { project }],
    ['environment_fork', { project }],
    ['environment_merge', { project }],
    ['environment_apply', { project }],
  ])('that is killed during %s keeps its changes, and runs again', async (tool, input) => {
    const name = tool.replaceAll('_', '-');
    const environment = await made(name);
    const which = tool === 'environment_list' ? {} : { environment };
    const named = tool === 'environment_merge' ? { environments: [environment, await made('other')] } : which;
    const [outcome] = await Promise.all([
      call(tool, { ...input, ...named }).catch(({ message }: Error) => message),
      killSandbox(environment),
    ]);
    if (typeof outcome === 'string') expect(outcome).toMatch(/^(conflict|not_ready|unavailable): /);
    expect(await run(environment, `cat ${name}`)).toMatchObject({ exit_code: 0, stdout: 'kept\n' });
    await call(tool, { ...input, ...named });
  });

  it('that is killed while it is created can be removed, also if it is killed during the removal', async () => {
    const created = made('short');
    await expect.poll(async () => (await carrel.list()).map(({ name }) => name)).toContain('shop-short');
    await Promise.all([killSandbox('shop-short'), created.catch(() => {})]);
    await run('shop-short', 'true');
    const removed = { project, environment: 'shop-short', force: true };
    await Promise.all([killSandbox('shop-short'), call('environment_remove', removed)]);
    const { environments } = await call('environment_list', { project, limit: 1000 });
    expect((environments as { environment: string }[]).map((one) => one.environment)).not.toContain('shop-short');
  });
});
