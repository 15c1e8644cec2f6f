/** The hub over stdio, with the official MCP client and both generations of the protocol. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type CallToolResult, Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Installation } from '../harness/installation.ts';
import { runEnv } from '../harness/run.ts';

let carrel: Installation;
let shop: string;
let store: string;
const clients: Client[] = [];

beforeAll(async () => {
  carrel = new Installation();
  shop = carrel.folder('shop');
  store = carrel.folder('store');
  mkdirSync(join(shop, 'src'));
  writeFileSync(join(shop, 'src/price.ts'), 'export const price = 1;\n');
  writeFileSync(join(store, 'README'), 'a store\n');
  await carrel.ok('project', 'add', shop, '--test', 'grep -q price src/price.ts');
  await carrel.ok('project', 'add', store, '--mode', 'overlay', '--test', 'false');
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});
afterAll(() => carrel.dispose());

function signalled(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** `modern`: a client that asks for the newest revision of the protocol. */
async function connect(modern = true): Promise<Client> {
  const options = modern ? { versionNegotiation: { mode: 'auto' as const } } : {};
  const client = new Client({ name: 'test', version: '1' }, options);
  const env = { PATH: process.env.PATH!, HOME: carrel.home, CARREL_HOME: carrel.home, ...runEnv() };
  const args = [resolve('bin/carrel'), 'hub', 'serve'];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env }));
  clients.push(client);
  return client;
}

async function call(client: Client, name: string, input: object): Promise<Record<string, unknown>> {
  const result = (await client.callTool({ name, arguments: { ...input } })) as CallToolResult;
  if (result.isError) throw new Error((result.content[0] as { text: string }).text);
  expect(JSON.parse((result.content[0] as { text: string }).text)).toEqual(result.structuredContent);
  return result.structuredContent as Record<string, unknown>;
}

describe.each([
  ['2025-11-25', false],
  ['2026-07-28', true],
])('a client of revision %s', (revision, modern) => {
  it('lists tools in a stable order and at a small cost', async () => {
    const client = await connect(modern);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    const { tools } = await client.listTools();
    expect((await client.listTools()).tools).toEqual(tools);
    expect(tools.map(({ name }) => name)).toContain('read_file');
    // A token has about four characters; the whole set of tools has 6,000 tokens.
    expect(JSON.stringify(tools).length / 4).toBeLessThan(6000);
    for (const { annotations } of tools) expect(annotations?.readOnlyHint).toBeTypeOf('boolean');
  });

  it('reads, edits and searches files of a project, which the host sees at once', async () => {
    const client = await connect(modern);
    const path = `src/new-${revision}.ts`;
    const created = await call(client, 'create_file', { project: 'shop', path, content: 'let amount = 2;\n' });
    expect(readFileSync(join(shop, path), 'utf8')).toBe('let amount = 2;\n');
    const edits = [{ old_text: 'let', new_text: 'const' }];
    const asked = { project: 'shop', path: `/workspaces/shop/${path}`, expected_hash: created.hash, edits };
    await call(client, 'write_file', asked);
    await expect(call(client, 'write_file', asked)).rejects.toThrow(/^conflict: .* is not as it was.*\nhint: /);
    expect(await call(client, 'read_file', { project: 'shop', path })).toMatchObject({
      content: 'const amount = 2;\n',
    });
    const found = await call(client, 'search_text', { project: 'shop', pattern: 'const am\\w+', path: 'src' });
    expect(found.matches).toContainEqual({
      path: `/workspaces/shop/${path}`,
      line: 1,
      column: 1,
      text: 'const amount = 2;',
    });
    await call(client, 'rename_file', { project: 'shop', from: path, to: 'moved.ts', dry_run: true });
    await call(client, 'delete_file', { project: 'shop', path });
    expect(existsSync(join(shop, path))).toBe(false);
  });

  it('runs commands with progress, and cancels them with the request', async () => {
    const client = await connect(modern);
    const said: string[] = [];
    const started = signalled();
    const abort = new AbortController();
    const command = ['sh', '-c', 'echo $$ > pid; echo started; exec sleep 100'];
    const running = client.callTool(
      { name: 'run_command', arguments: { project: 'shop', command } },
      {
        signal: abort.signal,
        onprogress: ({ message }) => {
          said.push(message ?? '');
          started.resolve();
        },
      },
    );
    await started.promise;
    abort.abort();
    await expect(running).rejects.toThrow();
    expect(said).toEqual(['started\n']);
    const alive = ['sh', '-c', 'while kill -0 $(cat pid) 2>/dev/null; do sleep 0.01; done; rm pid; echo gone'];
    expect(await call(client, 'run_command', { project: 'shop', command: alive })).toMatchObject({ stdout: 'gone\n' });
  });
});

it('run_tests runs the tests of several projects and says which failed', async () => {
  const client = await connect();
  expect(await call(client, 'run_tests', { projects: ['shop', 'store'] })).toMatchObject({
    passed: false,
    results: [
      { project: 'shop', exit_code: 0 },
      { project: 'store', exit_code: 1 },
    ],
  });
});

it('a time-out ends everything that a command started', async () => {
  const client = await connect();
  const command = ['sh', '-c', 'sleep 1000 & sleep 1000'];
  const ran = await call(client, 'run_command', { project: 'shop', command, timeout: 1 });
  expect(ran).toMatchObject({ timed_out: true, exit_code: null, signal: 'SIGTERM' });
  const left = await call(client, 'run_command', { project: 'shop', command: ['pgrep', '-f', 'sleep 1000'] });
  expect(left).toMatchObject({ exit_code: 1, stdout: '' });
});

it('edits of an overlay project stay in the working copy until they are applied', async () => {
  const client = await connect();
  await call(client, 'write_file', { project: 'store', path: 'README', content: 'another store\n' });
  expect(readFileSync(join(store, 'README'), 'utf8')).toBe('a store\n');
  expect(await carrel.run(['project', 'rm', 'store'])).toMatchObject({ exitCode: 6 });
  await carrel.ok('apply', 'hub-store');
  expect(readFileSync(join(store, 'README'), 'utf8')).toBe('another store\n');
});

it('a tool refuses a path that leaves the project, an unknown project and invalid input, and names the field', async () => {
  const client = await connect();
  symlinkSync('../store/README', join(shop, 'other'));
  for (const path of ['../store/README', 'other', '/etc/passwd', '/workspaces/store/README']) {
    await expect(call(client, 'read_file', { project: 'shop', path })).rejects.toThrow(/^invalid: /);
  }
  await expect(call(client, 'read_file', { project: 'shopp', path: 'a' })).rejects.toThrow(
    /no project shopp\nhint: .*shop/,
  );
  await expect(call(client, 'read_file', { project: 'shop', path: 7 })).rejects.toThrow(/path/);
  await expect(call(client, 'read_file', { project: 'shop', path: 'a', extra: 1 })).rejects.toThrow(/extra/);
  await expect(call(client, 'search_text', { project: 'shop', pattern: '(' })).rejects.toThrow(/^invalid: ripgrep: /);
});

it('hub call refuses a tool that it does not offer, and names its group', async () => {
  expect(await carrel.run(['hub', 'call', 'environment_list', '{"project":"shop"}'])).toMatchObject({
    exitCode: 4,
    stderr: expect.stringMatching(/is in the group environment.*\n.*hint: .*--tools files,code,run,environment/),
  });
  expect(await carrel.run(['hub', 'call', 'nope'])).toMatchObject({ exitCode: 5 });
});

it('a call fails if its sandbox ends meanwhile, and the next call starts the sandbox again', async () => {
  const client = await connect();
  const started = signalled();
  const running = client.callTool(
    { name: 'run_command', arguments: { project: 'shop', command: ['sh', '-c', 'echo started; exec sleep 100'] } },
    { onprogress: () => started.resolve() },
  );
  await started.promise;
  await carrel.ok('stop', 'hub-shop', '--grace', '0');
  expect(await running).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/^unavailable: .*shop/) }],
  });
  expect(await call(client, 'health_check', { project: 'shop' })).toMatchObject({ healthy: true });
});

it('the hub answers through the next daemon after kill -9 of this one', async () => {
  const client = await connect();
  await call(client, 'health_check', { project: 'shop' });
  await client.close();
  await carrel.killDaemon();
  expect(await call(await connect(), 'read_file', { project: 'shop', path: 'src/price.ts' })).toMatchObject({
    lines: 1,
  });
});

it('the hub shows projects only to their user, and logs what tools change', async () => {
  await carrel.ok('user', 'add', 'bob');
  expect(await carrel.json('--user', 'bob', 'project', 'ls')).toEqual([]);
  expect(await carrel.run(['--user', 'bob', 'hub', 'call', 'health_check', '{"project":"shop"}'])).toMatchObject({
    exitCode: 5,
    stderr: expect.stringContaining('no project shop'),
  });
  await carrel.ok('hub', 'call', 'create_file', '{"project":"shop","path":"logged","content":""}');
  await carrel.ok('hub', 'call', 'read_file', '{"project":"shop","path":"logged"}');
  const log = await carrel.ok('audit');
  expect(log).toMatch(/hub\.create_file shop ok/);
  expect(log).not.toMatch(/hub\.read_file/);
});

it('project rm removes a project with its sandbox and leaves the folder', async () => {
  await carrel.ok('project', 'rm', 'shop');
  expect((await carrel.json<{ name: string }[]>('ls')).map(({ name }) => name)).not.toContain('hub-shop');
  expect(existsSync(join(shop, 'src/price.ts'))).toBe(true);
  expect(await carrel.run(['project', 'show', 'shop'])).toMatchObject({ exitCode: 5 });
});
