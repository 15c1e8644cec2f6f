/**
 * The branch of finished stories, one commit each. Only the adapter moves it: if an agent moves it, the next story
 * still goes on top of the last finished one.
 */

import { rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Author } from '../../../../model/author.ts';
import { refFolder } from '../../../../model/name.ts';
import { clip } from '../../../../model/shape.ts';
import { AdapterError } from '../../../agent/inside/adapter-error.ts';
import { maxOutput } from '../../model/message.ts';
import { type AgentGit, reasonIn } from './agent-git.ts';
import type { Repository } from './repository.ts';

const lockedTries = 20;
const lockedMs = 50;

export class Branch {
  readonly #git: AgentGit;
  readonly #folder: string;
  readonly #gitFolder: string;
  readonly #ref: string;
  readonly #fetched: string;

  constructor(git: AgentGit, { folder, gitFolder }: Repository, name: string) {
    this.#git = git;
    this.#folder = folder;
    this.#gitFolder = gitFolder;
    this.#ref = `refs/heads/${name}`;
    this.#fetched = `${refFolder(hostname())}/heads/${name}`;
  }

  /**
   * Creates the branch if it is missing, and returns its tip. The branch then includes the fetched stories that an
   * earlier sandbox of this name finished for the task. A new branch starts at the fetched one, else at HEAD.
   */
  async open(task: string): Promise<string> {
    const there = await this.#resolve(this.#ref);
    const start = await this.#start(there, task);
    if (start === null) throw new AdapterError('GIT_CHECKOUT_FAILED', `${this.#folder} has no commit to begin from`);
    if (start !== there) await this.move(start);
    return start;
  }

  async #start(there: string | null, task: string): Promise<string | null> {
    const fetched = await this.#resolve(this.#fetched);
    if (there === null || fetched === null) return there ?? fetched ?? (await this.#resolve('HEAD'));
    const has = await this.storiesOn(task);
    const lacks = [...(await this.storiesOn(task, this.#fetched)).keys()].filter((id) => !has.has(id));
    if (lacks.length === 0) return there;
    const { exitCode } = await this.#git.run(this.#folder, ['merge-base', '--is-ancestor', there, fetched]);
    if (exitCode === 0) return fetched;
    const apart = `${this.#ref} and ${this.#fetched} have diverged: merge them, or drop one`;
    throw new AdapterError('GIT_CHECKOUT_FAILED', `${apart}; only the second has ${lacks.join(', ')}`);
  }

  /** Retries while an agent's git holds the lock. The lock of a killed git is removed before the last try. */
  async move(commit: string): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const { exitCode, stderr } = await this.#git.run(this.#folder, ['update-ref', this.#ref, commit]);
      if (exitCode === 0) return;
      const reason = `${this.#ref} cannot be moved: ${reasonIn(stderr)}`;
      if (!stderr.includes('.lock') || tries > lockedTries) throw new AdapterError('GIT_CHECKOUT_FAILED', reason);
      if (tries === lockedTries) rmSync(join(this.#gitFolder, `${this.#ref}.lock`), { force: true });
      else await pause(lockedMs);
    }
  }

  /** Commits by the id of their story, for this task. */
  async storiesOn(task: string, ref = this.#ref): Promise<Map<string, string>> {
    const format = `%H%x09%(trailers:key=${storyTrailer},valueonly,separator=%x20)%x09%(trailers:key=${taskTrailer},valueonly,separator=%x20)`;
    const log = await this.#git.ok(this.#folder, ['log', '--max-count=10000', `--format=${format}`, ref]);
    const found = log.split('\n').map((line) => line.split('\t'));
    return new Map(found.filter(([, , of]) => of === task).map(([commit, story]) => [story!, commit!]));
  }

  async has(commit: string): Promise<boolean> {
    return (await this.#resolve(commit)) !== null;
  }

  async #resolve(name: string): Promise<string | null> {
    const { exitCode, stdout } = await this.#git.run(this.#folder, [
      'rev-parse',
      '--verify',
      '--quiet',
      '--end-of-options',
      `${name}^{commit}`,
    ]);
    return exitCode === 0 ? stdout.trim() : null;
  }
}

const storyTrailer = 'Carrel-Story';
const taskTrailer = 'Carrel-Task';

export interface Described {
  readonly id: string;
  readonly title: string;
}

/** A subject line, the agent's summary, and trailers with task and story. */
export function commitMessage(type: string, story: Described, summary: string, origin: Origin): string {
  const subject = oneLine(`${prefixes[type] ?? type}: ${story.title} (${story.id})`);
  const body = summary.trim() === '' ? [] : [quoted(summary), ''];
  const trailers = [`${taskTrailer}: ${origin.task}`, `${storyTrailer}: ${story.id}`];
  const helper = origin.helper === null ? [] : [`Co-authored-by: ${origin.helper.name} <${origin.helper.email}>`];
  return `${[subject, '', ...body, ...trailers, ...helper].join('\n')}\n`;
}

export interface Origin {
  readonly task: string;
  /** The agent, if the owner is the author; null: the agent is the author. */
  readonly helper: Author | null;
}

const prefixes: Readonly<Record<string, string>> = { feat: 'feat', ref: 'refactor', bug: 'fix', chore: 'chore' };

function oneLine(text: string): string {
  return text.replace(/[\x00-\x1f\x7f]+/g, ' ').trim();
}

/** The agent's summary cannot forge trailers: git reads those after the last empty line only. */
function quoted(summary: string): string {
  return clip(summary.replace(/[\x00-\x09\x0b-\x1f\x7f]/g, '').trim(), maxOutput);
}
