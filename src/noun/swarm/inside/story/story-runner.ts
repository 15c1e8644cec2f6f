/** Runs the stories of a task file: those that are ready, each in a lane, until none can be done any more. */
import { crashPoint } from '../../../../lib/flow/crash-point.ts';
import { Exclusive } from '../../../../lib/flow/exclusive.ts';
import type { Author } from '../../../../model/author.ts';
import { clip } from '../../../../model/shape.ts';
import { AdapterError } from '../../../agent/inside/adapter-error.ts';
import { type Completion, errorText, maxErrors, maxErrorText, type StoryStatus } from '../../model/message.ts';
import { maxKeptOutput } from '../../model/outcome.ts';
import {
  defaultConcurrency,
  openDependencies,
  readyStories,
  type Story,
  type TaskFile,
  type TaskMetadata,
} from '../../model/task.ts';
import type { Broadcast } from '../broadcast.ts';
import { commitMessage } from '../checkout/branch.ts';
import type { Checkouts } from '../checkout/checkout.ts';
import type { AgentResult, RunAgent } from '../inside.ts';
import type { OutcomeRecord } from '../outcome-record.ts';
import type { Probe } from './service-watch.ts';
import { type StoryLimits, supervise } from './supervise.ts';

export interface StoryRunnerParts {
  readonly task: TaskFile;
  /** Distinguishes stories of this task file from those of others with the same id. */
  readonly taskName: string;
  /** The agent, if the owner is the author of its commits; null: the agent is the author. */
  readonly helper: Author | null;
  readonly runAgent: RunAgent;
  readonly env: Readonly<Record<string, string>>;
  readonly limits: StoryLimits;
  readonly probe: Probe | null;
  readonly checkouts: Checkouts;
  readonly record: OutcomeRecord;
  readonly broadcast: Broadcast;
  /** The whole output of agents, for `carrel swarm logs`. */
  readonly log: (storyId: string, lines: readonly string[]) => void;
}

/** Tries of a story that conflicts with the branch. */
const maxTries = 3;

export class StoryRunner {
  readonly #parts: StoryRunnerParts;
  readonly #order = new Exclusive();
  readonly #free: number[];
  readonly #errors: string[] = [];

  constructor(parts: StoryRunnerParts) {
    this.#parts = parts;
    const count = parts.task.metadata.maxConcurrency ?? defaultConcurrency;
    this.#free = Array.from({ length: count }, (_, index) => index);
  }

  /** Runs until no story can be done, or until the signal. An outcome that cannot be recorded ends all stories. */
  async run(signal: AbortSignal): Promise<Completion> {
    const halt = new AbortController();
    const running = new Map<string, Promise<void>>();
    try {
      for (;;) {
        if (!signal.aborted) this.#begin(running, AbortSignal.any([signal, halt.signal]));
        if (running.size === 0) return this.#conclude(signal.aborted);
        await Promise.race(running.values());
      }
    } catch (error) {
      halt.abort();
      await Promise.allSettled(running.values());
      throw error;
    }
  }

  #begin(running: Map<string, Promise<void>>, signal: AbortSignal): void {
    const ready = readyStories(this.#stories()).filter(({ id }) => !running.has(id));
    for (const story of ready.slice(0, this.#free.length)) {
      const lane = this.#free.shift()!;
      const done = this.#story(story, lane, signal).finally(() => {
        running.delete(story.id);
        this.#free.push(lane);
        this.#free.sort((a, b) => a - b);
      });
      running.set(story.id, done);
    }
  }

  #stories(): Story[] {
    const { stories } = this.#parts.record.outcome;
    return this.#parts.task.userStories.map((story) => ({ ...story, status: stories[story.id]?.status ?? 'pending' }));
  }

  async #story(story: Story, lane: number, signal: AbortSignal): Promise<void> {
    this.#report(story.id, 'in_progress', '');
    try {
      for (let tries = 1; !(await this.#try(story, lane, signal)); tries += 1) {
        if (tries === maxTries) throw new AdapterError(null, 'it conflicts with what other stories changed meanwhile');
        this.#parts.broadcast.output(story.id, () => 'conflicts with another story: done again from the new tip');
      }
    } catch (error) {
      this.#fail(story.id, signal.aborted ? new AdapterError(null, 'stopped before it was finished') : error);
    }
  }

  /** False: the story conflicts with the branch and has to be done again. */
  async #try(story: Story, lane: number, signal: AbortSignal): Promise<boolean> {
    const { checkouts, record, runAgent, task, env, limits, probe, broadcast } = this.#parts;
    const base = record.outcome.tip!;
    const folder = await checkouts.reset(lane, base);
    const assignment = { story, prompt: promptOf(story, task.metadata), folder, env };
    const say = (words: () => string) => broadcast.output(story.id, words);
    const log = (lines: readonly string[]) => this.#parts.log(story.id, lines);
    try {
      const result = refuseFailure(await supervise({ runAgent, assignment, limits, probe, say, log }, signal));
      return await this.#order.run('branch', () => this.#land(story, lane, base, result));
    } catch (error) {
      await checkouts.keep(lane, base, story.id);
      throw error;
    }
  }

  /** Runs for one story at a time. After a crash in here, the next start finishes or repeats the story. */
  async #land(story: Story, lane: number, base: string, { summary }: AgentResult): Promise<boolean> {
    const { checkouts, record, task, taskName, helper } = this.#parts;
    const message = commitMessage(task.metadata.type, story, summary, { task: taskName, helper });
    const commit = await checkouts.commit(lane, base, record.outcome.tip!, message);
    if (commit === null) return false;
    crashPoint('story:committed');
    record.change({ landing: { storyId: story.id, commit } });
    crashPoint('story:noted');
    await checkouts.moveBranch(commit);
    crashPoint('story:landed');
    this.#report(story.id, 'completed', summary, commit);
    crashPoint('story:reported');
    return true;
  }

  #fail(id: string, error: unknown): void {
    const { code, message } = error instanceof AdapterError ? error : new AdapterError('UNKNOWN_ERROR', String(error));
    this.#errors.push(errorText(null, `${id}: ${message}`));
    this.#report(id, 'failed', message);
    if (code !== null) this.#parts.broadcast.error(code, `${id}: ${message}`);
  }

  /** Records the status before it is sent. */
  #report(id: string, status: StoryStatus, output: string, commit: string | null = null): void {
    const { record, broadcast } = this.#parts;
    record.change({
      stories: { ...record.outcome.stories, [id]: { status, output: clip(output, maxKeptOutput), commit } },
      ...(commit === null ? {} : { tip: commit, landing: null }),
    });
    broadcast.status(id, status, output);
  }

  #conclude(stopped: boolean): Completion {
    const stories = this.#stories();
    const open = stories.filter(({ status }) => status !== 'completed' && status !== 'skipped');
    if (open.length === 0) return { status: 'completed', prUrl: null, errors: [] };
    const waiting = open.filter(({ status }) => status === 'pending');
    const blocked = waiting.map((story) => `${story.id}: ${waitsFor(openDependencies(story, stories))}`);
    const errors = [...this.#errors, ...blocked].map((text) => clip(text, maxErrorText)).slice(0, maxErrors);
    return { status: stopped ? 'stopped' : 'failed', prUrl: null, errors };
  }
}

function waitsFor(ids: readonly string[]): string {
  return ids.length === 0 ? 'was not begun' : `waits for ${ids.join(', ')}`;
}

/** Throws if the agent reports failure, so that this is handled like a crash. */
function refuseFailure(result: AgentResult): AgentResult {
  if (result.status === 'completed') return result;
  throw new AdapterError(result.code, result.summary);
}

function promptOf(story: Story, task: TaskMetadata): string {
  return [
    `You are working on "${task.title}" in the git repository of the current folder. There is no user to ask.`,
    `Do this one story, ${story.id}, completely, and nothing beyond it.`,
    '',
    `# ${story.title}`,
    '',
    story.description,
    ...section('Acceptance criteria', story.acceptanceCriteria),
    ...section('Notes', story.notes ? [story.notes] : []),
    '',
    'Check that every criterion holds, with the tests of the project where there are any. Leave the result in the',
    'working tree: it is committed for you. Do not switch branches, push, or change files in .carrel/tasks or .aimi/tasks.',
    'End with a summary in a few sentences of what you changed.',
    '',
  ].join('\n');
}

function section(heading: string, points: readonly string[]): string[] {
  return points.length === 0 ? [] : ['', `## ${heading}`, ...points.map((point) => `- ${point}`)];
}
