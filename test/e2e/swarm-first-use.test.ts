/**
 * The first use by a new user as the README describes it: a key, a task file, `swarm run --agent claude`; and errors
 * when something is missing.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SwarmExportView } from '../../src/noun/swarm/api.ts';
import { type Question, ScriptedModel, type Turn } from '../fixtures/scripted-model.ts';
import { TestAuthority } from '../fixtures/service.ts';
import { story, taskText } from '../fixtures/task-file.ts';
import { createHosts, type Hosts } from '../harness/hosts.ts';
import { Installation, until } from '../harness/installation.ts';
import { Repository } from '../harness/repository.ts';

/**
 * The real name of the service, and its address in this installation; a rule for a loopback address applies only to
 * names that resolve to it.
 */
const host = 'api.anthropic.com';
const address = { host: '127.77.0.1', port: 443 };
const key = 'sk-ant-real-0123456789';
const authority = new TestAuthority(host);
const program = 'tools/cli.js';

/** An agent that works only with the right mode and the secret that it was granted. */
const agents = `agents: { picky: { kind: command, command: [sh, -c, 'test "$MODE" = good && cat /run/secrets/* > again.txt; test -f again.txt'] } }`;

let hosts: Hosts;
let carrel: Installation;
let model: ScriptedModel | null;
let repository: Repository;

function openModel(): Promise<ScriptedModel> {
  return ScriptedModel.open(obeys, {
    tls: authority.tls(host),
    wants: { header: 'x-api-key', value: key },
    at: address,
  });
}

/** The model runs the command of the story's description in the shell, and then answers. */
function obeys({ messages }: Question, said: number): Turn {
  if (said > 0) return [{ text: 'I did it.' }];
  const command = /RUN (.*?) END/.exec(JSON.stringify(messages))?.[1] ?? 'false';
  return [{ text: 'On it.' }, { tool: 'Bash', input: { command, description: 'what the story says' } }];
}

beforeAll(async () => {
  hosts = createHosts({ [host]: address.host });
  carrel = new Installation(hosts.around(null));
  carrel.write('home/ca.pem', authority.certificate);
  const config = [
    `authorities: [${join(carrel.home, 'ca.pem')}]`,
    `network: { allow: ["near.test:443", "${address.host}:443"] }`,
    agents,
    '',
  ];
  carrel.write('home/config.yaml', config.join('\n'));
  repository = new Repository(carrel.folder('project'), { a: 'a\n', '.gitignore': 'tools\n.carrel\n' });
  mkdirSync(join(repository.path, 'tools'));
  mkdirSync(join(repository.path, '.carrel/tasks'), { recursive: true });
  cpSync(resolve('node_modules/@anthropic-ai/claude-code/cli.js'), join(repository.path, program));
  model = await openModel();
});
afterAll(async () => {
  await carrel.dispose();
  await model?.dispose();
  hosts.dispose();
});

/** Runs a command in the folder of the project. */
function type(...argv: string[]) {
  return carrel.run(argv, { cwd: repository.path });
}

async function ok(...argv: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await type(...argv);
  if (exitCode !== 0) throw new Error(`carrel ${argv.join(' ')} exited with ${exitCode}: ${stdout}${stderr}`);
  return stdout;
}

function write(name: string, ...commands: readonly string[]): void {
  const stories = commands.map((command, index) => story(index + 1, { description: `RUN ${command} END` }));
  const path = join(repository.path, `.carrel/tasks/2026-01-31-${name}-tasks.json`);
  writeFileSync(path, taskText(stories, { branchName: `feat/${name}` }));
}

/** Installs claude as `npm install -g` does, for all sandboxes of the user. */
async function installClaude(): Promise<void> {
  await ok('volume', 'init');
  const [home] = readdirSync(join(carrel.home, 'volumes')).filter((name) => name.startsWith('carrel-home-'));
  const folder = join(carrel.home, 'volumes', home!, '.local/bin');
  mkdirSync(folder, { recursive: true });
  const launcher = `#!/bin/sh\nexec node /workspace/${program} "$@"\n`;
  writeFileSync(join(folder, 'claude'), launcher, { mode: 0o755 });
}

describe('before a sandbox starts', () => {
  async function refusal(...options: string[]): Promise<string> {
    const { exitCode, stderr } = await type('swarm', 'run', '--all', '--agent', 'claude', ...options);
    expect(exitCode).toBeGreaterThan(0);
    return stderr;
  }

  it('a missing program, key or route is refused with the command that fixes it', async () => {
    write('words', 'echo words >> words.txt');
    expect(await refusal()).toMatch(
      /claude is not installed.*\n.*npm install -g --prefix \/usr\/local @anthropic-ai\/claude-code/,
    );
    await installClaude();
    expect(await refusal()).toMatch(/no secret ANTHROPIC_API_KEY\n.*carrel secret set ANTHROPIC_API_KEY/);
    await carrel.run(['secret', 'set', 'ANTHROPIC_API_KEY'], { input: `${key}\n` });
    const route = await refusal('--secret', 'ANTHROPIC_API_KEY');
    expect(route).toMatch(
      /cannot reach its service: no rule allows api\.anthropic\.com:443\n.*--network api\.anthropic\.com/,
    );
    expect(await ok('events', '--after', '0')).not.toContain('sandbox.created');
  });
});

describe('the commands of the README', () => {
  it('run claude on a task file with a secret as key, and fetch its commits', async () => {
    expect(await ok('task', 'ls')).toContain('feat/words');
    expect(await ok('swarm', 'run', '--all', '--agent', 'claude')).toMatch(/^words completed 1\/1 /m);
    repository.git('merge', '--quiet', 'refs/carrel/words/heads/feat/words');
    expect(repository.git('show', 'HEAD:words.txt')).toBe('words');
    expect(model!.questions.length).toBeGreaterThan(1);
    expect(await carrel.json('credential', 'ls')).toMatchObject([
      { name: 'anthropic', preset: 'anthropic', secret: 'ANTHROPIC_API_KEY' },
    ]);
  });

  it('swarm logs shows texts, tools and results of stories in order, without JSON', async () => {
    const said = await ok('swarm', 'logs', 'words');
    expect(said).toMatch(
      /US-001.*in progress[\s\S]*On it\.[\s\S]*\[Bash\] echo words[\s\S]*I did it\.[\s\S]*completed/,
    );
    expect(said).not.toContain('{"');
  });
});

describe('when the service is away', () => {
  it('the task file fails with SERVICE_UNREACHABLE and a hint, and its story stays open', async () => {
    await model!.dispose();
    model = null;
    write('away', 'echo away >> away.txt');
    const { exitCode, stdout } = await type('swarm', 'run', '--all', '--agent', 'claude');
    expect([exitCode, stdout]).toEqual([
      6,
      expect.stringMatching(/^away failed 0\/1 SERVICE_UNREACHABLE: .*ECONNREFUSED/m),
    ]);
    expect(stdout).toMatch(/hint: .*carrel net log away.*carrel swarm resume away/);
    const { containers } = JSON.parse(await ok('swarm', 'export')) as SwarmExportView;
    expect(containers.find(({ containerName }) => containerName === 'away')!.reason).toMatch(/^SERVICE_UNREACHABLE: /);
    expect(containers.at(-1)!.storyProgress).toMatchObject({ pending: 1, failed: 0 });
  });
});

describe('another attempt', () => {
  const attempt = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await type('swarm', ...args);
    return [exitCode, `${stdout}${stderr}`];
  };
  const file = '.carrel/tasks/2026-01-31-again-tasks.json';

  it('by run or resume uses new options, and keeps all other options of the last attempt', async () => {
    write('again', 'true');
    const failed = [6, expect.stringMatching(/^again failed 0\/1 /m)];
    await carrel.ok('room', 'create', 'team');
    const grants = ['--room', 'team:ro', '--memory-scope', 'user', '--memory-bank'];
    const first = [
      'run',
      '--file',
      file,
      '--agent',
      'picky',
      '--env',
      'MODE=bad',
      '--network',
      'example.org',
      ...grants,
    ];
    expect(await attempt(...first)).toEqual(failed);
    expect((await carrel.show('again')).network.allow).toEqual(['example.org']);
    expect(await attempt('run', '--file', file, '--network', 'example.net')).toEqual(failed);
    expect((await carrel.show('again')).network.allow).toEqual(['example.net']);
    expect(await attempt('run', '--file', file, '--engine', 'docker', '--rootfs', '/usr')).toEqual([
      6,
      expect.stringMatching(/was created with --engine local, and that cannot change\n.*carrel swarm rm again/),
    ]);
    await carrel.run(['secret', 'set', 'TOKEN'], { input: 'hidden' });
    const options = ['--env', 'MODE=good', '--secret', 'TOKEN'];
    expect(await attempt('resume', 'again', ...options)).toEqual([0, expect.stringMatching(/^again completed 1\/1 /m)]);
    expect(repository.git('show', 'refs/carrel/again/heads/feat/again:again.txt')).toBe('hidden');
    const { network, rooms, memoryScopes, mounts } = await carrel.show('again');
    expect(network.allow).toEqual(['example.net']);
    expect(rooms).toEqual([{ name: 'team', readonly: true }]);
    expect(memoryScopes).toEqual([{ scope: 'user', readonly: false }]);
    expect(mounts.map(({ target }) => target)).toContain('/data/memory-bank');
  });
});

describe('scripts that keep containers of their own', () => {
  const state = '.aimi/swarm-state.json';
  const entries = () => {
    const { containers } = JSON.parse(readFileSync(join(repository.path, state), 'utf8')) as SwarmExportView;
    return Object.fromEntries(containers.map((one) => [one.containerName, `${one.status} ${one.reason}`]));
  };

  it('have their containers observed, do not block `swarm run`, and find the state in a file', async () => {
    mkdirSync(join(repository.path, '.aimi'));
    await ok('swarm', 'init');
    await carrel.ok('create', '--name', 'lives');
    await carrel.ok('create', '--name', 'dies', '--', 'sh', '-c', 'exit 3');
    for (const name of ['lives', 'dies']) await add((await carrel.show(name)).id, name);
    await add('f'.repeat(64), 'gone');
    const { containers } = JSON.parse(await ok('swarm', 'export', '--file', state)) as SwarmExportView;
    expect(containers.map(({ containerName, status, reason }) => [containerName, status, reason])).toEqual([
      ['lives', 'running', null],
      ['dies', 'failed', 'AGENT_CRASH: ended with 3'],
      ['gone', 'failed', 'lost'],
    ]);
    write('own', 'true');
    const run = ['run', '--file', '.carrel/tasks/2026-01-31-own-tasks.json', '--agent', 'picky', '--env', 'MODE=good'];
    expect((await type('swarm', ...run)).exitCode).toBe(0);
    await until(() => entries().own === 'completed null', 'the file to have what was done');
    expect(entries().lives).toBe('running null');
    await carrel.ok('rm', '--force', 'lives');
    await until(() => entries().lives === 'failed lost', 'the file to have what no event tells of');
    // The script heard its adapter, so its status replaces the observed one.
    await ok('swarm', 'update', 'lives', '--status', 'completed');
    await until(() => entries().lives === 'completed null', 'the file to have what the script says');
    expect((await type('swarm', 'export', '--file', 'a')).exitCode).toBe(2);
  });

  function add(id: string, name: string): Promise<string> {
    return ok('swarm', 'add', id, name, `.aimi/tasks/${name}.json`, `feat/${name}`);
  }
});
