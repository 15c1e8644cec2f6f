/** A project with task files for swarms, whose agent does what the stories say, and functions to check the results. */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { SwarmView } from '../../src/noun/swarm/api.ts';
import type { TaskFile } from '../../src/noun/swarm/model/task.ts';
import { story, taskText } from '../fixtures/task-file.ts';
import { type Installation, until } from './installation.ts';
import { otherUid, Repository } from './repository.ts';

/** The orders of each story of a task file, in order, in the words of `scripted-agent.mjs`. */
export type Plans = Readonly<Record<string, readonly string[]>>;

/** Longer than any of these swarms takes. */
export const workMs = 100_000;

const script = readFileSync(resolve('test/fixtures/scripted-agent.mjs'), 'utf8');

export class SwarmProject {
  readonly repository: Repository;
  readonly #carrel: Installation;
  readonly #plans: Plans;

  constructor(carrel: Installation, folder: string, plans: Plans) {
    this.#carrel = carrel;
    this.#plans = plans;
    const files = { a: 'a\n', '.gitignore': 'tools\n.carrel\n', 'tools/agent.mjs': script };
    this.repository = new Repository(carrel.folder(folder), files);
    for (const [name, orders] of Object.entries(plans)) this.#write(name, orders);
    if (otherUid === 12_345) this.repository.give(otherUid);
  }

  #write(name: string, orders: readonly string[]): void {
    const stories = orders.map((description, index) =>
      story(index + 1, { description, dependsOn: index === 0 ? [] : [`US-00${index}`] }),
    );
    const path = this.file(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, taskText(stories, { branchName: `feat/${name}` }));
  }

  get path(): string {
    return this.repository.path;
  }

  file(name: string): string {
    return join(this.path, `.carrel/tasks/2026-01-31-${name}-tasks.json`);
  }

  /** Corrects the file, as its owner does. */
  mend(name: string, from: string, to: string): void {
    const path = this.file(name);
    writeFileSync(path, readFileSync(path, 'utf8').replace(JSON.stringify(from), JSON.stringify(to)));
  }

  statuses(name: string): string[] {
    const { userStories } = JSON.parse(readFileSync(this.file(name), 'utf8')) as TaskFile;
    return userStories.map(({ status }) => status);
  }

  /** The stories whose commits are on the host, in order. */
  landed(name: string): string[] {
    const format = '--format=%(trailers:key=Carrel-Story,valueonly,separator=%x2C)';
    const ref = `refs/carrel/${name}/heads/feat/${name}`;
    return this.git('log', '--reverse', format, ref).split('\n').filter(Boolean);
  }

  /** Returns the files of which not every story is done exactly once, by commits, by content and by status. */
  wrong(): string[] {
    return Object.entries(this.#plans).flatMap(([name, orders]) => {
      const ids = orders.map((_, index) => `US-00${index + 1}`);
      const lines = this.git('show', `refs/carrel/${name}/heads/feat/${name}:${name}.txt`).split('\n');
      const seen = JSON.stringify([this.landed(name), lines, this.statuses(name)]);
      const wanted = JSON.stringify([ids, ids, ids.map(() => 'completed')]);
      return seen === wanted ? [] : [`${name}: ${seen}`];
    });
  }

  /** The repository belongs to another account. */
  git(...args: string[]): string {
    return this.repository.git('-c', 'safe.directory=*', ...args);
  }

  /** Runs a command of `swarm`; some commands return only when everything is done. */
  async swarm(...args: string[]): Promise<string> {
    const argv = ['swarm', ...args, '--project', this.path];
    const { exitCode, stdout, stderr } = await this.#carrel.run(argv, { timeoutMs: workMs });
    if (exitCode !== 0) throw new Error(`carrel ${argv.join(' ')} exited with ${exitCode}: ${stderr}`);
    return stdout;
  }

  async view(): Promise<SwarmView> {
    return this.#carrel.client.call('GET /v1/swarm/show', { query: { project: this.path } });
  }

  async until(what: string, is: (view: SwarmView) => boolean, withinMs = workMs): Promise<SwarmView> {
    let view = await this.view();
    await until(
      async () => {
        view = await this.view().catch(() => view);
        return is(view);
      },
      what,
      withinMs,
    );
    return view;
  }
}

export function hasEnded({ containers }: SwarmView): boolean {
  return containers.every(({ status }) => status !== 'pending' && status !== 'running');
}

/** Configures the agent that does what stories say. */
export function knowScripted(carrel: Installation, more = ''): void {
  const agent = `agents:\n  scripted: { kind: command, command: [/usr/bin/env, node, /workspace/tools/agent.mjs] }\n`;
  appendFileSync(join(carrel.home, 'config.yaml'), `${agent}${more}`);
}

/** Stories that each leave a line of their own. */
export function lines(name: string, count: number, also = ''): string[] {
  return Array.from({ length: count }, (_, index) => `append ${name}.txt US-00${index + 1}\n${also}say done`);
}
