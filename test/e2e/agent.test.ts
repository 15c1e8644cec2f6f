/** Agents in terminals: the real programs in sandboxes, on pseudo-terminals; the model says what the test scripts. */
import { appendFileSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NpmRegistry } from '../fixtures/npm-registry.ts';
import { type Question, ScriptedModel, type Turn } from '../fixtures/scripted-model.ts';
import { TestAuthority } from '../fixtures/service.ts';
import { TextModel } from '../fixtures/text-model.ts';
import { Installation } from '../harness/installation.ts';
import { isRepeated } from '../harness/machine.ts';
import { carrelOn, type Terminal } from '../harness/terminal.ts';

const clients = resolve('test/clients/node_modules');

const authority = new TestAuthority('127.0.0.1');
const value = 'sk-ant-real-0123456789';
let carrel: Installation;
let project: string;

beforeAll(() => {
  carrel = new Installation();
  project = carrel.folder('project');
  carrel.write('project/README', 'A project.\n');
  carrel.write('home/ca.pem', authority.certificate);
  appendFileSync(join(carrel.home, 'config.yaml'), `authorities: [${join(carrel.home, 'ca.pem')}]\n`);
});
afterAll(() => carrel.dispose());

/** With the programs that this checkout has beside those of the machine. */
function on(args: readonly string[]): Terminal {
  const path = [resolve('node_modules/.bin'), join(clients, '.bin'), process.env.PATH].join(':');
  return carrelOn(carrel.home, args, { cwd: project, env: { PATH: path } });
}

describe('claude', () => {
  let model: ScriptedModel;
  beforeAll(async () => {
    const wants = { header: 'x-api-key', value };
    const run = { tool: 'Bash', input: { command: 'echo made > made.txt', description: 'Write a file' } };
    const turn = ({ tools = [] }: Question, said: number): Turn => {
      const name = tools.find((one) => /^bash$/i.test(one.name))?.name ?? 'Bash';
      return said === 0 ? [{ text: 'I will.' }, { ...run, tool: name }] : [{ text: 'It is written.' }];
    };
    model = await ScriptedModel.open(turn, { tls: authority.tls('127.0.0.1'), wants });
  });
  afterAll(() => model.dispose());

  it('names everything that is missing, with the commands, before anything starts', async () => {
    const terminal = carrelOn(carrel.home, ['claude'], { cwd: project, env: { PATH: '/usr/bin:/bin' } });
    expect(await terminal.ended).toBe(5);
    expect(terminal.text).toMatch(/carrel agent install claude/);
    expect(terminal.text).toMatch(/carrel secret set ANTHROPIC_API_KEY/);
    expect(await carrel.ok('ls', '-q')).toBe('');
  });

  it('starts without a question, works, and never has the key', async () => {
    await carrel.run(['secret', 'set', 'KEY'], { input: value });
    const host = `127.0.0.1:${model.port}`;
    await carrel.ok('credential', 'add', 'model', '--secret', 'KEY', '--preset', 'anthropic', '--host', host);
    const terminal = on(['claude']);
    await terminal.shows(/bypass permissions on/s);
    terminal.type('Write a file.');
    await terminal.shows(/Write a file/);
    terminal.type('\r');
    await terminal.shows(/It is written/);
    terminal.type('\x10\x11');
    expect(await terminal.ended).toBe(0);
    expect(terminal.text).toMatch(/detached; project-claude goes on; come back with: carrel claude \./);
    expect(await carrel.ok('diff', '--stat', 'project-claude')).toContain('made.txt');
    const inside = await carrel.ok(
      'exec',
      '-T',
      'project-claude',
      '--',
      'sh',
      '-c',
      'cat /proc/*/environ ~/.claude.json',
    );
    expect(inside).toContain('hasTrustDialogAccepted');
    expect(inside).not.toContain(value);
  }, 60_000);

  it('is there again with its screen, for several viewers at once, after a terminal was closed', async () => {
    const first = on(['claude', project]);
    await first.shows(/Write a file.*It is written.*bypass permissions on/s);
    const second = on(['attach', 'project-claude']);
    await second.shows(/It is written.*bypass permissions on/s);
    first.type('seen by both');
    await first.shows(/seen by both/);
    await second.shows(/seen by both/);
    first.kill();
    await first.ended;
    second.kill();
    await second.ended;
    expect((await carrel.show('project-claude')).state).toBe('running');
    const third = on(['agent', 'claude']);
    await third.shows(/It is written.*seen by both.*bypass permissions on/s);
    // Its rules are as wide as the window.
    expect(third.text).not.toMatch(/─{85}/);
    third.resize(30, 100);
    await third.has(/─{95}/);
    third.type('\x10\x11');
    expect(await third.ended).toBe(0);
  }, 60_000);

  it('works with the login of this machine, whose token stays outside', async () => {
    const token = 'sk-ant-oat01-real';
    const wants = { header: 'authorization', value: `Bearer ${token}` };
    const other = await ScriptedModel.open([[{ text: 'Logged in.' }]], { tls: authority.tls('127.0.0.1'), wants });
    await carrel.ok('rm', '--force', 'project-claude');
    await carrel.ok('credential', 'rm', 'model');
    mkdirSync(join(carrel.home, '.claude'));
    const login = { claudeAiOauth: { accessToken: token, refreshToken: 'r', expiresAt: 1_900_000_000_000 } };
    carrel.write('home/.claude/.credentials.json', JSON.stringify(login));
    const { stdout, stderr } = await carrel.process(['agent', 'login', 'claude']);
    expect(stdout + stderr).toMatch(/secret CLAUDE_CODE_OAUTH_TOKEN.*expires at 2030-/s);
    const service = [
      '--secret',
      'CLAUDE_CODE_OAUTH_TOKEN',
      '--preset',
      'claude-login',
      '--host',
      `127.0.0.1:${other.port}`,
    ];
    await carrel.ok('credential', 'add', 'login', ...service);
    const terminal = on(['claude']);
    await terminal.shows(/bypass permissions on/);
    terminal.type('Who am I?');
    await terminal.shows(/Who am I/);
    terminal.type('\r');
    await terminal.shows(/Logged in/);
    terminal.type('\x10\x11');
    await terminal.ended;
    await other.dispose();
  }, 60_000);
});

const codex = ['codex', 'openai', { header: 'authorization', value: `Bearer ${value}` }, /OpenAI Codex/] as const;
/** It takes long to start. */
const gemini = ['gemini', 'gemini', { header: 'x-goog-api-key', value }, /Type your message/] as const;

describe.each(isRepeated ? [codex, gemini] : [codex])('%s', (agent, preset, wants, prompt) => {
  it('starts without a question and answers, with the key added outside', async () => {
    const model = await TextModel.open('It is well.', { tls: authority.tls('127.0.0.1'), wants });
    const host = `127.0.0.1:${model.port}`;
    await carrel.run(['secret', 'set', 'KEY'], { input: value });
    await carrel.ok('credential', 'add', agent, '--secret', 'KEY', '--preset', preset, '--host', host);
    const terminal = on([agent]);
    await terminal.shows(prompt);
    terminal.type('How is it?');
    await terminal.shows(/How is it/);
    terminal.type('\r');
    await terminal.shows(/It is well/);
    terminal.type('\x10\x11');
    expect(await terminal.ended).toBe(0);
    const again = on([agent]);
    await again.shows(/How is it.*It is well/s);
    again.type('\x10\x11');
    expect(await again.ended).toBe(0);
    await model.dispose();
  }, 60_000);
});

it('installs an agent from npm for all sandboxes, which cannot change it', async () => {
  const qwen = { name: '@qwen-code/qwen-code', program: 'qwen', version: '1.2.3' };
  const registry = await NpmRegistry.open(authority.tls('127.0.0.1'), qwen);
  await carrel.run(['secret', 'set', 'KEY'], { input: value });
  const host = `127.0.0.1:${registry.port}`;
  await carrel.ok('credential', 'add', 'registry', '--secret', 'KEY', '--preset', 'npm', '--host', host);
  expect(await carrel.ok('agent', 'install', 'qwen')).toBe('qwen 1.2.3\n');
  expect(await carrel.ok('agent', 'ls')).toMatch(/^qwen +\/opt\/agents\/qwen\/1\.2\.3\/bin\/qwen +1\.2\.3 /m);
  const terminal = on(['qwen', '-e', 'OPENAI_API_KEY=none', '-e', 'OPENAI_BASE_URL=http://127.0.0.1:1/v1']);
  await terminal.shows(/qwen 1\.2\.3 at .*read-only/s);
  terminal.type('\r');
  expect(await terminal.ended).toBe(0);
  await registry.dispose();
}, 60_000);
