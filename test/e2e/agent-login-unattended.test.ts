/** The login of an account in swarms and in sessions, where no key exists: the real claude and its ACP adapter; the model follows a script. */
import { appendFileSync, cpSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Question, ScriptedModel, type Turn } from '../fixtures/scripted-model.ts';
import { TestAuthority } from '../fixtures/service.ts';
import { Installation } from '../harness/installation.ts';
import { hasEnded, SwarmProject } from '../harness/swarm.ts';

const token = 'sk-ant-oat01-real-0123456789';
const refresh = 'refresh-0123456789';
const modules = '/workspace/tools/node_modules';
const cli = `${modules}/@anthropic-ai/claude-code/cli.js`;
const acp = `${modules}/@agentclientprotocol/claude-agent-acp/dist/index.js`;
const key = '{ variable: ANTHROPIC_API_KEY, secret: ANTHROPIC_API_KEY, login: CLAUDE_CODE_OAUTH_TOKEN }';
const environment = `env, DISABLE_AUTOUPDATER=1, DISABLE_TELEMETRY=1, CLAUDE_CODE_EXECUTABLE=${cli}`;
/** Like the presets of Carrel, with programs from the project and without their own updates and telemetry. */
const config = [
  'agents:',
  `  claude: { kind: claude, command: [${environment}, node, ${cli}], key: ${key} }`,
  `  acp: { kind: acp, command: [${environment}, node, ${acp}], key: ${key} }`,
  '',
].join('\n');
const packages = ['@anthropic-ai/claude-code', '@anthropic-ai/claude-agent-sdk', '@agentclientprotocol', 'zod'];

const authority = new TestAuthority('127.0.0.1');
let carrel: Installation;
let model: ScriptedModel;
let project: SwarmProject;

/** In each story it runs the command of the description. */
function obeys({ messages }: Question, said: number): Turn {
  const command = /RUN (.*?) END/.exec(JSON.stringify(messages))?.[1];
  if (said > 0 || command === undefined) return [{ text: 'It is done.' }];
  return [{ text: 'On it.' }, { tool: 'Bash', input: { command, description: 'the command of the story' } }];
}

const bearer = () => new Set(model.requests.map(({ headers }) => headers.authorization));

beforeAll(async () => {
  carrel = new Installation();
  const wants = { header: 'authorization', value: `Bearer ${token}` };
  model = await ScriptedModel.open(obeys, { tls: authority.tls('127.0.0.1'), wants });
  carrel.write('home/ca.pem', authority.certificate);
  appendFileSync(join(carrel.home, 'config.yaml'), `authorities: [${join(carrel.home, 'ca.pem')}]\n${config}`);
  project = new SwarmProject(carrel, 'project', { work: ['RUN echo US-001 >> work.txt END'] });
  for (const name of packages)
    cpSync(resolve('node_modules', name), join(project.path, 'tools/node_modules', name), { recursive: true });
});
afterAll(async () => {
  await carrel.dispose();
  await model.dispose();
});

it('without a key and a login, the refusal names both commands', async () => {
  for (const args of [
    ['swarm', 'run', '--file', project.file('work'), '--agent', 'claude'],
    ['chat', project.path, '--agent', 'acp'],
  ]) {
    const { exitCode, stderr } = await carrel.process(args, { cwd: project.path, input: 'Hello.' });
    expect([exitCode, stderr]).toEqual([5, expect.stringMatching(/carrel secret set ANTHROPIC_API_KEY/)]);
    expect(stderr).toMatch(/or with an account of claude: carrel agent login claude/);
  }
  expect(await carrel.ok('ls', '--quiet')).toBe('');
});

it('claude works on stories with the login, which stays outside of the sandbox', async () => {
  carrel.folder('home/.claude');
  const login = { claudeAiOauth: { accessToken: token, refreshToken: refresh, expiresAt: Date.parse('2100-01-01') } };
  carrel.write('home/.claude/.credentials.json', JSON.stringify(login));
  const { exitCode } = await carrel.process(['agent', 'login', 'claude']);
  expect(exitCode).toBe(0);
  const service = ['--preset', 'claude-login', '--host', `127.0.0.1:${model.port}`];
  await carrel.ok('credential', 'add', 'claude-login', '--secret', 'CLAUDE_CODE_OAUTH_TOKEN', ...service);

  await project.swarm('run', '--file', project.file('work'), '--agent', 'claude', '-d');
  const { containers } = await project.until('the end', hasEnded);
  expect(containers.map(({ status, errors }) => [status, errors])).toEqual([['completed', []]]);
  expect(project.wrong()).toEqual([]);
  expect(bearer()).toEqual(new Set([`Bearer ${token}`]));
  expect(await carrel.ok('logs', 'work')).not.toContain(token);
});

it('a conversation has the login, too, in a sandbox that was created for it and in an existing one', async () => {
  const chat = async (place: string) => {
    const { exitCode, stdout, stderr } = await carrel.run(['chat', place, '--agent', 'acp'], { input: 'Hello.' });
    expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
    expect(stdout).toContain('It is done.');
  };
  await chat(project.path);
  await carrel.ok('create', '--name', 'own', '--credential', 'claude-login', project.path);
  await chat('own');
  expect(bearer()).toEqual(new Set([`Bearer ${token}`]));
  const otherPath = await carrel.ok(
    'exec',
    '-T',
    'own',
    '--',
    'sh',
    '-c',
    'curl -sS $ANTHROPIC_BASE_URL/api/oauth/profile',
  );
  expect(otherPath).toMatch(/this credential is for .*\/v1\/messages and .* alone, not for other paths/);
  const inside = await carrel.ok('exec', '-T', 'own', '--', 'sh', '-c', everything);
  expect(inside).toMatch(/sk-ant-oat01-carrel-placeholder/);
  for (const hidden of [token, refresh]) expect(inside).not.toContain(hidden);
});

/** The environments and arguments of all processes, and the files of the home. */
const everything =
  'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline; find ~ /run /.data -type f -exec cat {} + 2>/dev/null; true';
