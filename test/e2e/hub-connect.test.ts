/** The settings of MCP clients, with the real claude; and what a client on stdio sees. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ScriptedModel } from '../fixtures/scripted-model.ts';
import { Installation } from '../harness/installation.ts';
import { runEnv } from '../harness/run.ts';

let carrel: Installation;
let home: string;

beforeAll(async () => {
  carrel = new Installation();
  home = carrel.folder('person');
  for (const name of ['shop', 'store']) {
    writeFileSync(join(carrel.folder(name), 'README'), `about ${name}\n`);
    await carrel.ok('project', 'add', join(home, '..', name));
  }
});
afterAll(() => carrel.dispose());

/** Runs `hub connect` with the home folder of the test. */
function connect(...args: readonly string[]) {
  return carrel.run(['hub', 'connect', ...args], { env: { HOME: home, CARREL_HOME: carrel.home } });
}

describe('hub serve', () => {
  async function serve(...options: readonly string[]): Promise<Client> {
    const client = new Client({ name: 'test', version: '1' });
    const env = { PATH: process.env.PATH!, HOME: carrel.home, CARREL_HOME: carrel.home, ...runEnv() };
    const args = [resolve('bin/carrel'), 'hub', 'serve', ...options];
    await client.connect(new StdioClientTransport({ command: process.execPath, args, env }));
    return client;
  }

  it('offers the projects and groups of tools that its options name', async () => {
    const client = await serve('--project', 'shop', '--tools', 'files');
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain('read_file');
    expect(names).not.toContain('run_command');
    const listed = await client.callTool({ name: 'list_projects', arguments: {} });
    expect(listed.structuredContent).toMatchObject({ projects: [{ id: 'shop' }] });
    const other = { name: 'read_file', arguments: { project: 'store', path: 'README' } };
    expect(await client.callTool(other)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/no project store/) }],
    });
    await client.close();
  });

  it.each([
    [['--project', 'nosuch'], 5, 'no project nosuch'],
    [['--tools', 'admin'], 2, 'there is no group "admin"'],
  ])('refuses %j', async (options, exitCode, message) => {
    const ended = await carrel.run(['hub', 'serve', ...options], { input: '' });
    expect(ended).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(message) });
  });
});

it('hub connect lists the clients that were found, and prints settings without writing', async () => {
  mkdirSync(join(home, '.cursor'));
  expect(JSON.parse((await connect('--json')).stdout)).toContainEqual({
    client: 'cursor',
    found: true,
    installed: false,
    file: join(home, '.cursor/mcp.json'),
  });
  const { stdout } = await connect('--client', 'vscode', '--project', 'shop');
  const { command, args } = JSON.parse(stdout).servers.carrel as { command: string; args: string[] };
  expect([command, ...args]).toEqual([
    ...[process.execPath, resolve('bin/carrel'), '--home', carrel.home],
    ...['hub', 'serve', '--project', 'shop'],
  ]);
  expect(await connect('--write')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--client') });
  expect(await connect('--client', 'emacs')).toMatchObject({ exitCode: 2 });
});

it('the real claude calls tools of the hub after hub connect --write', async () => {
  writeFileSync(join(home, '.claude.json'), '{\n  "mcpServers": {},\n  "numStartups": 3\n}\n');
  expect(await connect('--client', 'claude-code', '--write')).toMatchObject({ exitCode: 0 });
  const model = await ScriptedModel.open([
    [{ tool: 'mcp__carrel__read_file', input: { project: 'shop', path: 'README' } }],
    [{ tool: 'mcp__carrel__create_file', input: { project: 'store', path: 'made', content: 'by claude\n' } }],
    [{ text: 'done' }],
  ]);
  try {
    const allowed = 'mcp__carrel__read_file,mcp__carrel__create_file';
    const output = await claude(model.port, ['-p', 'Read it.', '--allowedTools', allowed]);
    expect(output).toMatch(/done/);
    const answers = JSON.stringify(model.questions.at(-1)?.messages);
    expect(answers).toContain('about shop');
    expect(readFileSync(join(home, '../store/made'), 'utf8')).toBe('by claude\n');
  } finally {
    await model.dispose();
  }
  expect(JSON.parse(readFileSync(join(home, '.claude.json.before-carrel'), 'utf8'))).toMatchObject({ numStartups: 3 });
});

async function claude(port: number, args: readonly string[]): Promise<string> {
  const program = resolve('node_modules/@anthropic-ai/claude-code/cli.js');
  const env = {
    ...{
      PATH: process.env.PATH!,
      HOME: home,
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
      ANTHROPIC_API_KEY: 'sk-x',
    },
    ...{ DISABLE_TELEMETRY: '1', DISABLE_AUTOUPDATER: '1', IS_SANDBOX: '1', CLAUDE_CODE_MAX_RETRIES: '0', ...runEnv() },
  };
  const child = spawn(process.execPath, [program, ...args], { cwd: home, env, stdio: ['ignore', 'pipe', 'inherit'] });
  return text(child.stdout);
}
