/** The adapter outside of a sandbox: a repository, the folders it works with, and its messages. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { AdapterSettings } from '../../src/noun/agent/model/agent.ts';
import type { MessageFromAdapter, SwarmMessage } from '../../src/noun/swarm/model/message.ts';
import { encodeMessage, MessageReader } from '../../src/noun/swarm/model/message-line.ts';
import { checkOutcome, type Outcome } from '../../src/noun/swarm/model/outcome.ts';
import { gather, until } from './installation.ts';
import { Repository } from './repository.ts';
import { type Files, put } from './working-copy.ts';

export const taskFilePath = '.carrel/tasks/2026-01-31-login-tasks.json';
export const branchName = 'feat/login';
export const scriptedAgent = {
  kind: 'command',
  command: [process.execPath, resolve('test/fixtures/scripted-agent.mjs')],
} as const;

export interface StoryPlan {
  readonly does: string;
  readonly after?: readonly string[];
  readonly title?: string;
  readonly status?: string;
}

/** A task file of stories by number, each with the orders of `scripted-agent.mjs`. */
export function taskFile(stories: readonly StoryPlan[], maxConcurrency = 4): string {
  const userStories = stories.map(({ does, after = [], title = 'A story', status = 'pending' }, index) => ({
    id: `US-${String(index + 1).padStart(3, '0')}`,
    title,
    description: does,
    acceptanceCriteria: [],
    priority: index,
    status,
    dependsOn: after,
  }));
  const metadata = { title: 'Login', type: 'feat', branchName, createdAt: '2026-01-31', maxConcurrency };
  return JSON.stringify({ schemaVersion: '3.0', metadata, userStories });
}

export class AdapterBench {
  readonly folder = mkdtempSync(join(tmpdir(), 'carrel-adapter-'));
  readonly repository: Repository;
  readonly #runs: AdapterRun[] = [];

  constructor(files: Files = { a: 'a\n' }) {
    this.repository = new Repository(this.folder, files);
    for (const name of ['data', 'secrets']) mkdirSync(join(this.folder, name));
  }

  get data(): string {
    return join(this.folder, 'data', 'carrel');
  }

  plan(stories: readonly StoryPlan[], maxConcurrency = 4): void {
    put(this.repository.path, { [taskFilePath]: taskFile(stories, maxConcurrency) });
  }

  start(
    settings: Partial<AdapterSettings> = {},
    env: Record<string, string> = {},
    wrap: readonly string[] = [],
  ): AdapterRun {
    const places = {
      workspace: this.repository.path,
      project: join(this.folder, 'project'),
      data: this.data,
      secrets: join(this.folder, 'secrets'),
    };
    const run = new AdapterRun({ agent: scriptedAgent, ...settings }, places, env, wrap);
    this.#runs.push(run);
    return run;
  }

  /** Starts a run, sends the request, and waits for the end. */
  async complete(settings: Partial<AdapterSettings> = {}, env: Record<string, string> = {}): Promise<AdapterRun> {
    const run = this.start(settings, env);
    run.ask();
    if ((await run.exited) < 0) await this.endAll();
    return run;
  }

  /** Ends the agents of a killed adapter, as a sandbox does. */
  async endAll(): Promise<void> {
    const left = () => processesIn(this.folder);
    await until(
      () => left().map((pid) => attempt(() => process.kill(pid, 'SIGKILL'))).length === 0,
      'its agents to end',
    );
  }

  get outcome(): Outcome {
    return checkOutcome(JSON.parse(readFileSync(join(this.data, 'outcome.json'), 'utf8')));
  }

  /** Ids of stories on the branch, in order. */
  get landed(): string[] {
    const log = this.repository.git('log', '--reverse', '--format=%(trailers:key=Carrel-Story,valueonly)', branchName);
    return log.split('\n').filter(Boolean);
  }

  show(path: string): string {
    return this.repository.git('show', `${branchName}:${path}`);
  }

  async dispose(): Promise<void> {
    for (const run of this.#runs) run.kill();
    await Promise.all(this.#runs.map(({ exited }) => exited));
    await this.endAll();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function processesIn(folder: string): number[] {
  const isIn = (pid: string) => attempt(() => readlinkSync(`/proc/${pid}/cwd`))?.startsWith(`${folder}/`);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isIn(name))
    .map(Number);
}

/** Undefined: the process ended meanwhile. */
function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

export const request: SwarmMessage = {
  type: 'task-request',
  timestamp: '2026-01-31T12:00:00.000Z',
  swarmId: '0e3b7f2c-5d1a-4c8e-9f00-1234567890ab',
  containerId: '0123456789abcdef',
  payload: { taskFilePath, branchName },
};

export class AdapterRun {
  readonly child: ChildProcess;
  readonly messages: MessageFromAdapter[] = [];
  /** The exit code; below 0: the adapter was killed. */
  readonly exited: Promise<number>;
  readonly stderr: () => string;

  constructor(settings: unknown, places: object, env: Record<string, string>, wrap: readonly string[]) {
    const argv = [...wrap, process.execPath, resolve('test/fixtures/adapter-once.mjs')];
    const [file, ...args] = [...argv, JSON.stringify(settings), JSON.stringify(places)];
    this.child = spawn(file!, args, { env: { PATH: process.env.PATH, HOME: '/nonexistent', ...env } });
    this.child.stdin!.on('error', () => {});
    this.stderr = gather(this.child.stderr!);
    const reader = new MessageReader();
    this.child.stdout!.on('data', (chunk: Buffer) => {
      for (const read of reader.push(chunk)) {
        if ('flaw' in read) throw new Error(`the adapter sent an invalid message: ${read.flaw.reason}`);
        this.messages.push(read.message as MessageFromAdapter);
      }
    });
    this.exited = new Promise((done) => this.child.on('close', (code) => done(code ?? -1)));
  }

  ask(change: Partial<Extract<SwarmMessage, { type: 'task-request' }>['payload']> = {}): void {
    const payload = { ...request.payload, ...change };
    this.child.stdin!.write(encodeMessage({ ...request, payload } as SwarmMessage));
  }

  /** The changes of stories as `US-001 in_progress`, each change once. */
  get changes(): string[] {
    const all = this.messages.flatMap((one) =>
      one.type === 'progress-update' ? [`${one.payload.storyId} ${one.payload.status}`] : [],
    );
    return all.filter((one, index) => all.lastIndexOf(one, index - 1) === -1 || index === 0);
  }

  get errors(): string[] {
    return this.messages.flatMap(({ type, payload }) =>
      type === 'error' ? [`${payload.code} ${payload.message}`] : [],
    );
  }

  get completion(): Extract<MessageFromAdapter, { type: 'completion' }>['payload'] | undefined {
    const last = this.messages.at(-1);
    return last?.type === 'completion' ? last.payload : undefined;
  }

  hears(test: (message: MessageFromAdapter) => boolean, what: string): Promise<void> {
    return until(() => this.messages.some(test), what);
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }
}
