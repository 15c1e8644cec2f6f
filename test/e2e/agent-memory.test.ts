/**
 * The real claude saves in one sandbox and finds in another, with the configuration of Carrel alone; the model is
 * scripted.
 */
import { appendFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { McpView } from '../../src/noun/agent/api/mcp.ts';
import type { BankVersionView } from '../../src/noun/memory/api/bank.ts';
import type { NoteView } from '../../src/noun/memory/api.ts';
import { type Question, ScriptedModel, type Turn } from '../fixtures/scripted-model.ts';
import { TestAuthority } from '../fixtures/service.ts';
import { Installation } from '../harness/installation.ts';
import { carrelOn, type Terminal } from '../harness/terminal.ts';

const authority = new TestAuthority('127.0.0.1');
const value = 'sk-ant-real-0123456789';
const fact = 'The test database listens on port 5433.';
const file = { projectName: 'shared', fileName: 'plan.md' };
let carrel: Installation;
let model: ScriptedModel;

const wait: Turn = [{ tool: 'Bash', input: { command: 'sleep 0.5', description: 'Wait for the servers' } }];
const maxWaits = 60;

/** The prompt shows which of the two agents asks. In a terminal claude does not wait for its MCP servers. */
function turn({ messages, tools = [] }: Question, said: number): Turn {
  const told = JSON.stringify(messages);
  if (told.includes('"name":"mcp__memory__')) return [{ text: 'All is done.' }];
  const servers = ['mcp__memory__', 'mcp__memory-bank__'];
  const isReady = servers.every((server) => tools.some(({ name }) => name.startsWith(server)));
  if (!isReady && said < maxWaits) return wait;
  return told.includes('Save it')
    ? [
        { tool: 'mcp__memory__memory_save', input: { text: fact } },
        { tool: 'mcp__memory-bank__memory_bank_write', input: { ...file, content: 'First the tests.\n' } },
      ]
    : [
        { tool: 'mcp__memory__memory_search', input: { query: 'which port has the database' } },
        { tool: 'mcp__memory-bank__memory_bank_read', input: file },
      ];
}

beforeAll(async () => {
  carrel = new Installation();
  model = await ScriptedModel.open(turn, {
    tls: authority.tls('127.0.0.1'),
    wants: { header: 'x-api-key', value },
  });
  for (const name of ['saver', 'finder']) carrel.folder(name);
  carrel.write('saver/README', 'A project.\n');
  // The second project is hostile: it declares a server with the name of one of Carrel, and one of its own.
  carrel.write(
    'finder/.mcp.json',
    JSON.stringify({ mcpServers: { memory: { command: '/bin/false' }, extra: { command: '/bin/false' } } }),
  );
  carrel.write('home/ca.pem', authority.certificate);
  appendFileSync(join(carrel.home, 'config.yaml'), `authorities: [${join(carrel.home, 'ca.pem')}]\n`);
  await carrel.run(['secret', 'set', 'KEY'], { input: value });
  const host = `127.0.0.1:${model.port}`;
  await carrel.ok('credential', 'add', 'model', '--secret', 'KEY', '--preset', 'anthropic', '--host', host);
});
afterAll(async () => {
  await carrel.dispose();
  await model.dispose();
});

function claudeOn(project: string, ...options: string[]): Terminal {
  const PATH = [resolve('node_modules/.bin'), process.env.PATH].join(':');
  return carrelOn(carrel.home, ['claude', ...options], { cwd: join(carrel.home, '..', project), env: { PATH } });
}

async function ask(terminal: Terminal, text: string): Promise<void> {
  await terminal.shows(/bypass permissions on/s);
  terminal.type(text);
  await terminal.shows(new RegExp(text.slice(0, 7)));
  terminal.type('\r');
  await terminal.shows(/All is done/);
  terminal.type('\x10\x11');
  expect(await terminal.ended).toBe(0);
}

/** What the tools answered, as the model got it. */
function toolResults(): string {
  return JSON.stringify(model.questions.at(-1)?.messages.at(-1)?.content);
}

it('claude saves a note and a file in one sandbox and finds both in another', async () => {
  const grants = ['--memory-scope', 'user', '--memory-bank'];
  await ask(claudeOn('saver', ...grants), 'Save it for later.');
  expect(await carrel.json<NoteView[]>('memory', 'ls')).toMatchObject([
    { text: fact, by: { kind: 'sandbox', name: 'saver-claude' } },
  ]);
  expect(await carrel.json<BankVersionView[]>('memory', 'bank', 'log')).toMatchObject([
    { path: 'shared/plan.md', version: 1, by: { name: 'saver-claude' } },
  ]);
  await ask(claudeOn('finder', ...grants), 'Find what is known.');
  expect(toolResults()).toContain(fact);
  expect(toolResults()).toContain('First the tests.');
  expect(toolResults()).toContain('sandbox saver-claude');
}, 120_000);

it('mcp ls shows what a sandbox gets and from where, and that a project replaces no server of Carrel', async () => {
  const { servers, skipped } = await carrel.json<McpView>('mcp', 'ls', 'finder-claude');
  expect(servers.map(({ name, from }) => `${name} of ${from}`)).toEqual([
    ...['memory of carrel', 'memory-bank of carrel', 'extra of project'],
  ]);
  expect(skipped).toMatchObject([{ name: 'memory', from: 'project' }]);
  const { stdout, stderr } = await carrel.run(['mcp', 'ls', 'finder-claude']);
  expect(stdout).toMatch(/^memory +carrel +\/opt\/carrel\/bin\/carrel-memory$/m);
  expect(stderr).toContain('memory of project is left out');
  expect((await carrel.run(['mcp', 'ls', 'none'])).exitCode).toBe(5);
});

it('the files have no secret, and a start with fewer servers removes only what Carrel added', async () => {
  const files = '~/.claude.json ~/.codex/config.toml ~/.gemini/settings.json ~/.config/opencode/opencode.json';
  const read = () => carrel.ok('exec', 'finder-claude', '--', 'sh', '-c', `cat ${files} ~/.claude/settings.json`);
  const before = await read();
  expect(before.match(/carrel-memory-bank/g)).toHaveLength(4);
  expect(before).not.toContain(value);
  await carrel.ok('exec', 'finder-claude', '--', 'sh', '-c', 'echo "# mine" >> ~/.codex/config.toml');
  carrel.write('finder/.mcp.json', '{}');
  await carrel.ok('stop', 'finder-claude');
  await carrel.ok('start', 'finder-claude');
  const after = await read();
  expect(after).toContain('# mine');
  expect(after).toContain('carrel-memory-bank');
  expect(after).not.toContain('extra');
});
