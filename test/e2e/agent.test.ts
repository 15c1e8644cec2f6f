// @takes 50 s
/** Agents in terminals: the real programs in sandboxes, on pseudo-terminals; the model is scripted. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NpmRegistry } from '../fixtures/npm-registry.ts';
import { type Question, ScriptedModel, type Turn } from '../fixtures/scripted-model.ts';
import { Service, TestAuthority } from '../fixtures/service.ts';
import { Installation } from '../harness/installation.ts';
import { carrelOn, type Terminal } from '../harness/terminal.ts';
import { describeAgentPrograms, programsPath } from './agent-programs.ts';

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

function on(args: readonly string[]): Terminal {
  return carrelOn(carrel.home, args, { cwd: project, env: { PATH: programsPath } });
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

  it('starts without a question, works, and never has the key', async () => {
    await carrel.run(['secret', 'set', 'KEY'], { input: value });
    const host = `127.0.0.1:${model.port}`;
    await carrel.ok('credential', 'add', 'model', '--secret', 'KEY', '--preset', 'anthropic', '--host', host);
    const terminal = on(['claude']);
    await terminal.shows(/bypass permissions on/s);
    expect(terminal.text.match(/Ctrl-P Ctrl-Q detaches/g)).toHaveLength(1);
    // Claude uses its colours, as the terminal of the sandbox offers 256.
    expect(terminal.text).toMatch(/\x1b\[38;5;\d+m/);
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

  it('shows its screen again, to several viewers at once, after a terminal was closed', async () => {
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
    // The lines that claude draws are as wide as the window.
    expect(third.text).not.toMatch(/─{85}/);
    third.resize(30, 100);
    await third.has(/─{95}/);
    third.type('\x10\x11');
    expect(await third.ended).toBe(0);
  }, 60_000);

  it('works with the login of this machine, whose token stays outside, and gets the services that were asked for', async () => {
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
    const terminal = on(['claude', '.', '--service', 'hub']);
    await terminal.shows(/bypass permissions on/);
    expect(await carrel.ok('mcp', 'ls', 'project-claude')).toMatch(/^hub +carrel /m);
    terminal.type('Who am I?');
    await terminal.shows(/Who am I/);
    terminal.type('\r');
    await terminal.shows(/Logged in/);
    terminal.type('\x10\x11');
    await terminal.ended;
    await other.dispose();
  }, 60_000);
});

describeAgentPrograms(() => ({ carrel, authority, open: (agent) => on([agent]) }));

it('agent install installs an agent from npm for all sandboxes, which cannot change it', async () => {
  const qwen = { name: '@qwen-code/qwen-code', program: 'qwen', version: '1.2.3' };
  const registry = await NpmRegistry.open(authority.tls('127.0.0.1'), qwen);
  await carrel.run(['secret', 'set', 'KEY'], { input: value });
  const host = `127.0.0.1:${registry.port}`;
  await carrel.ok('credential', 'add', 'registry', '--secret', 'KEY', '--preset', 'npm', '--host', host);
  expect(await carrel.ok('agent', 'ls')).toMatch(/^qwen +- .* none: carrel agent install qwen$/m);
  expect(await carrel.ok('agent', 'install', 'qwen')).toBe('qwen 1.2.3\n');
  expect(await carrel.ok('agent', 'ls')).toMatch(/^qwen +1\.2\.3 .* \/opt\/agents\/qwen\/1\.2\.3\/bin\/qwen$/m);
  const env = ['-e', 'OPENAI_API_KEY=none', '-e', 'OPENAI_BASE_URL=http://127.0.0.1:1/v1'];
  const terminal = on(['qwen', ...env]);
  await terminal.shows(/qwen 1\.2\.3 at .*read-only/s);
  terminal.type('\r');
  expect(await terminal.ended).toBe(0);
  const beside = on(['qwen', '.', '--new', ...env, '--', '--model', 'x y']);
  await beside.shows(/with --yolo --model x y/);
  beside.type('\r');
  expect(await beside.ended).toBe(0);
  expect(await carrel.ok('ls', '-q')).toMatch(
    /^project-qwen$[\s\S]*^project-qwen-2$|^project-qwen-2$[\s\S]*^project-qwen$/m,
  );
  // Only the command installs a new version, and only sandboxes that are created later use it.
  registry.publish('1.3.0');
  const third = on(['qwen', '.', '--new', ...env]);
  await third.shows(/qwen 1\.2\.3 at /);
  third.type('\r');
  await third.ended;
  expect(await carrel.ok('agent', 'install', 'qwen')).toBe('qwen 1.3.0\n');
  expect(await carrel.ok('agent', 'ls')).toMatch(/^qwen +1\.3\.0 /m);
  const old = on(['qwen']);
  await old.shows(/qwen 1\.2\.3 at /);
  old.type('\r');
  await old.shows(/^project-qwen-3 has ended; carrel qwen \. starts it again\s+carrel diff project-qwen-3 shows its/m);
  const fresh = on(['qwen', '.', '--new', ...env]);
  await fresh.shows(/qwen 1\.3\.0 at /);
  fresh.type('\r');
  await fresh.ended;
  expect(await carrel.ok('agent', 'install', 'qwen', '1.2.3')).toBe('qwen 1.2.3\n');
  const bad = await carrel.run(['agent', 'install', 'qwen', '9']);
  expect(bad).toMatchObject({
    exitCode: 5,
    stderr: expect.stringContaining('npm has no version "9" of @qwen-code/qwen-code'),
  });
  await carrel.ok('rm', '--force', ...[2, 3, 4].map((n) => `project-qwen-${n}`), 'project-qwen');
  await carrel.ok('credential', 'rm', 'registry');
  await registry.dispose();
}, 60_000);

it('copilot without program and key prints both commands and starts nothing; with both it opens, and the key stays outside', async () => {
  const before = await carrel.ok('ls', '-q');
  const lacking = on(['copilot']);
  expect(await lacking.ended).toBe(5);
  expect(lacking.shown).toMatch(/^carrel: copilot cannot start yet without its program and its key$/m);
  expect(lacking.shown).toMatch(
    /install its program: +carrel agent install copilot\s+enter its key: +carrel secret set COP/,
  );
  expect(await carrel.ok('ls', '-q')).toBe(before);

  const bin = carrel.folder('bin');
  const program = '#!/bin/sh\necho "copilot with $* and $COPILOT_GITHUB_TOKEN."; read line\n';
  writeFileSync(join(bin, 'copilot'), program, { mode: 0o755 });
  await carrel.run(['secret', 'set', 'COPILOT_GITHUB_TOKEN'], { input: value });
  const env = { PATH: `${bin}:${process.env.PATH}` };
  const terminal = carrelOn(carrel.home, ['copilot'], { cwd: project, env });
  await terminal.shows(/copilot with/);
  expect(terminal.shown).toMatch(/^copilot with --allow-all-tools and \S*placeholder\.$/m);
  // The agent reaches its service by the credential that comes with it, and no other host.
  expect((await carrel.show('project-copilot')).network.allow).toEqual([]);
  const services = (await carrel.json<{ services: { host: string }[] }[]>('credential', 'ls')).flatMap(
    (one) => one.services,
  );
  expect(services.map(({ host }) => host)).toContain('api.githubcopilot.com');
  expect(await carrel.json('net', 'explain', 'project-copilot', 'example.org')).toMatchObject({
    refusal: 'not_allowed',
  });
  terminal.type('\r');
  expect(await terminal.ended).toBe(0);
  await carrel.ok('rm', '--force', 'project-copilot');
  await carrel.ok('credential', 'rm', 'copilot');
  await carrel.ok('secret', 'rm', 'COPILOT_GITHUB_TOKEN');
});

it('agent install ends with Ctrl-C, and leaves no sandbox', async () => {
  let asked = () => {};
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const silent = await Service.open(authority.tls('127.0.0.1'), () => asked());
  const host = `127.0.0.1:${silent.port}`;
  await carrel.run(['secret', 'set', 'KEY'], { input: value });
  await carrel.ok('credential', 'add', 'silent', '--secret', 'KEY', '--preset', 'npm', '--host', host);
  const before = await carrel.ok('ls', '-q');
  const terminal = on(['agent', 'install', 'codex']);
  await isAsked;
  terminal.type('\x03');
  expect(await terminal.ended).toBe(130);
  expect(terminal.text).toContain('nothing was installed');
  expect(await carrel.ok('ls', '-q')).toBe(before);
  await silent.dispose();
});
