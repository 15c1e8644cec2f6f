/** The adapter as the command of real sandboxes: it outlives daemons, and is stopped, killed and attacked. */
import { type ChildProcess, execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { adapterCommand } from '../../src/noun/agent/model/agent.ts';
import type { SwarmMessage } from '../../src/noun/swarm/model/message.ts';
import { encodeMessage, MessageReader } from '../../src/noun/swarm/model/message-line.ts';
import { checkOutcome, type Outcome } from '../../src/noun/swarm/model/outcome.ts';
import { branchName, request, type StoryPlan, taskFile, taskFilePath } from '../harness/adapter.ts';
import { Installation, until } from '../harness/installation.ts';
import { Repository } from '../harness/repository.ts';

let carrel: Installation;
let projects: string;

beforeAll(() => {
  carrel = new Installation();
  projects = carrel.folder('projects');
});
afterAll(() => carrel.dispose());

const script = readFileSync(resolve('test/fixtures/scripted-agent.mjs'), 'utf8');
/** Path of Node in a sandbox: programs in /usr are the host's, a Node from elsewhere is mounted at this path. */
const node = process.execPath.startsWith('/usr/') ? process.execPath : '/opt/carrel/node';
const settings = {
  agent: { kind: 'command', command: [node, '/workspace/tools/agent.mjs'] },
} as const;

/** Creates a project in which git ignores the agent's program. */
function project(stories: readonly StoryPlan[]): string {
  const files = { a: 'a\n', '.gitignore': 'tools\n.carrel\n', 'tools/agent.mjs': script };
  return new Repository(projects, { ...files, [taskFilePath]: taskFile(stories) }).path;
}

/** A sandbox whose command is the adapter, and an attached client that has sent a request. */
async function begin(name: string, stories: readonly StoryPlan[]): Promise<Visit> {
  const command = [...adapterCommand(settings)];
  await carrel.ok('status');
  const body = { name, project: project(stories), mode: 'overlay', command, stdin: true } as const;
  await carrel.client.call('POST /v1/sandboxes', { body });
  return new Visit(name).ask();
}

class Visit {
  readonly said: SwarmMessage[] = [];
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;

  constructor(name: string) {
    this.child = carrel.spawn(['attach', name]);
    this.child.stdin!.on('error', () => {});
    const reader = new MessageReader();
    this.child.stdout!.on('data', (chunk: Buffer) => {
      for (const read of reader.push(chunk)) if ('message' in read) this.said.push(read.message);
    });
    this.exited = new Promise((done) => this.child.on('close', done));
  }

  /** Sends the request after an empty line, which ends an incomplete line of an earlier client. */
  ask(): this {
    this.child.stdin!.write(Buffer.concat([Buffer.from('\n'), encodeMessage(request)]));
    return this;
  }

  get changes(): string[] {
    const all = this.said.flatMap(({ type, payload }) =>
      type === 'progress-update' ? [`${payload.storyId} ${payload.status}`] : [],
    );
    return [...new Set(all)];
  }

  until(change: string): Promise<void> {
    return until(() => this.changes.includes(change), change, 60_000);
  }
}

/** Reads the files without a daemon. */
function outcomes(): Outcome[] {
  const sandboxes = join(carrel.home, 'sandboxes');
  const paths = readdirSync(sandboxes).map((id) => join(sandboxes, id, 'state/data/carrel/outcome.json'));
  return paths.map((path) => checkOutcome(JSON.parse(readFileSync(path, 'utf8'))));
}

const waits = 'append b 1\nwait /tmp/go\nappend b 2';
const two = [{ does: 'append a x' }, { does: waits, after: ['US-001'] }];

/** Starts the sandbox again: the first story stays completed, and the second runs from its beginning. */
async function goesOn(name: string): Promise<void> {
  await carrel.ok('start', name);
  const visit = new Visit(name).ask();
  await visit.until('US-002 in_progress');
  expect(visit.changes).toEqual(['US-001 completed', 'US-002 in_progress']);
  await carrel.ok('exec', name, '--', 'touch', '/tmp/go');
  expect(await visit.exited).toBe(0);
  await carrel.ok('start', name);
  expect(await carrel.ok('exec', name, '--', 'git', 'show', `${branchName}:b`)).toBe('1\n2\n');
  await carrel.ok('rm', '--force', name);
}

it('an adapter completes its stories, and the result can be reviewed and fetched', async () => {
  const path = project([{ does: 'append b 1\nsay done' }, { does: 'append c 2', after: ['US-001'] }]);
  const argv = ['run', '--name', 'once', path, '--', ...adapterCommand(settings)];
  const { exitCode, stdout } = await carrel.run(argv, { input: encodeMessage(request) });
  expect([exitCode, stdout.trim().split('\n').at(-1)]).toEqual([0, expect.stringContaining('"completed"')]);
  expect(await carrel.show('once')).toMatchObject({ state: 'completed' });
  expect(outcomes().map(({ completion }) => completion?.status)).toEqual(['completed']);
  expect(await carrel.ok('apply', 'once')).toContain(`refs/carrel/once/heads/${branchName}`);
  const show = ['show', '--stat', '--format=%s', `refs/carrel/once/heads/${branchName}`];
  expect(execFileSync('git', ['-C', path, ...show], { encoding: 'utf8' })).toMatch(
    /^feat: A story \(US-002\)\n\n c \|/,
  );
  await carrel.ok('rm', '--force', 'once');
});

it('an adapter keeps working without a daemon, and reports the status of all stories to the next one', async () => {
  const first = await begin('alone', two);
  await first.until('US-002 in_progress');
  await carrel.killDaemon();
  await first.exited;
  const cut = new Visit('alone');
  cut.child.stdin!.write(encodeMessage(request).subarray(0, 40));
  await carrel.ok('exec', 'alone', '--', 'true');
  cut.child.kill('SIGKILL');
  await cut.exited;
  const next = new Visit('alone').ask();
  // The adapter repeats the state of a story in progress now and then, perhaps before it answers.
  for (const change of ['US-001 completed', 'US-002 in_progress']) await next.until(change);
  expect(next.changes).toHaveLength(2);
  await carrel.killDaemon();
  await carrel.ok('exec', 'alone', '--', 'touch', '/tmp/go');
  await until(() => outcomes().every(({ completion }) => completion?.status === 'completed'), 'the end', 60_000);
  expect(await carrel.json('wait', 'alone')).toMatchObject({ state: 'completed', exitCode: 0 });
  await carrel.ok('rm', '--force', 'alone');
});

it('an adapter stops with its sandbox, and continues when that is started again', async () => {
  const visit = await begin('stopped', two);
  await visit.until('US-002 in_progress');
  await carrel.ok('stop', 'stopped');
  expect(await visit.exited).toBe(130);
  const errors = ['US-002: stopped before it was finished'];
  expect(visit.said.at(-1)).toMatchObject({ type: 'completion', payload: { status: 'stopped', errors } });
  expect(outcomes().map(({ completion }) => completion?.status)).toEqual(['stopped']);
  await goesOn('stopped');
});

it('an adapter that was killed with its agent continues when the sandbox is started again', async () => {
  const visit = await begin('killed', two);
  await visit.until('US-002 in_progress');
  await carrel.run(['exec', 'killed', '--', 'sh', '-c', 'kill -9 $(pgrep -f lib/carrel-adapter.js)']);
  expect(await visit.exited).toBe(137);
  expect(await carrel.show('killed')).toMatchObject({ state: 'failed', exitCode: 137 });
  expect(outcomes().map(({ completion }) => completion)).toEqual([null]);
  await goesOn('killed');
});

it('an adapter can be neither changed nor replaced by its agent', async () => {
  const plant = ['node', 'git', 'sh', 'carrel-adapter'].map((name) => `program /home/agent/.local/bin/${name}`);
  const visit = await begin('hostile', [{ does: [...plant, waits].join('\n') }]);
  await visit.until('US-001 in_progress');
  const attempts = ['carrel-adapter', 'lib/carrel-adapter.js', 'lib/planted.js'].map(
    (name) => `/opt/carrel/bin/${name}`,
  );
  const { stderr } = await carrel.run([
    'exec',
    'hostile',
    '--',
    '/bin/sh',
    '-c',
    `for f in ${attempts.join(' ')}; do (echo x >> $f); done`,
  ]);
  expect(stderr.match(/cannot create \/opt\/carrel\/bin/g)).toHaveLength(3);
  await carrel.ok('stop', '--grace', '0', 'hostile');
  await carrel.ok('start', 'hostile');
  const next = new Visit('hostile').ask();
  await next.until('US-001 in_progress');
  await carrel.ok('exec', 'hostile', '--', '/usr/bin/touch', '/tmp/go');
  expect(await next.exited).toBe(0);
  await carrel.ok('rm', '--force', 'hostile');
});
