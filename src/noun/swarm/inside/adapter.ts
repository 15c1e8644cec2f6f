/** The adapter: accepts one request, runs its stories, and ends. Clients may connect and disconnect meanwhile. */
import { basename, join } from 'node:path';
import type { Author } from '../../../model/author.ts';
import { clip } from '../../../model/shape.ts';
import { AdapterError } from '../../agent/inside/adapter-error.ts';
import { findKey, refuseKeys } from '../../agent/inside/key.ts';
import { requireProgram } from '../../agent/inside/program.ts';
import type { AdapterSettings } from '../../agent/model/agent.ts';
import {
  type Completion,
  containerIdPattern,
  errorText,
  maxErrorText,
  type SwarmErrorCode,
  type SwarmMessage,
  type TaskRequest,
} from '../model/message.ts';
import { freshOutcome, isOf, readTaskFile, reconcileRecord, taskNameOf } from './begin.ts';
import { type AdapterClock, Broadcast, type SwarmListener } from './broadcast.ts';
import { AgentGit } from './checkout/agent-git.ts';
import { Branch } from './checkout/branch.ts';
import { GitCheckouts } from './checkout/checkout.ts';
import { openRepository, type Repository } from './checkout/repository.ts';
import { agentEnv, agentRunner } from './kind/kind.ts';
import { OutcomeRecord } from './outcome-record.ts';
import { probeOf, requireService } from './story/service-watch.ts';
import { StoryRunner } from './story/story-runner.ts';

export interface AdapterFolders {
  readonly workspace: string;
  /** The read-only project. */
  readonly project: string;
  readonly data: string;
  readonly secrets: string;
}

export interface AdapterParts {
  readonly settings: AdapterSettings;
  readonly folders: AdapterFolders;
  readonly env: Readonly<Record<string, string>>;
  readonly clock: AdapterClock;
  readonly log: (storyId: string, lines: readonly string[]) => void;
}

type Request = Extract<SwarmMessage, { type: 'task-request' }>;

/** Ids of messages before a request names the swarm. */
const noSwarm = '00000000-0000-4000-8000-000000000000';
const noContainer = '0'.repeat(12);
const refusedCode = 2;
const exitCodes: { readonly [status in Completion['status']]: number } = { completed: 0, failed: 1, stopped: 130 };

export class Adapter {
  readonly #parts: AdapterParts;
  readonly #stop = new AbortController();
  readonly #listeners = new Set<SwarmListener>();
  #broadcast: Broadcast;
  #request: Request | null = null;
  #end: (exitCode: number) => void = () => {};
  /** Resolves to the exit code when all messages are sent. */
  readonly ended: Promise<number>;

  constructor(parts: AdapterParts) {
    this.#parts = parts;
    const { CARREL_SANDBOX: id = '' } = parts.env;
    const containerId = containerIdPattern.test(id) ? id : noContainer;
    this.#broadcast = new Broadcast({ swarmId: noSwarm, containerId }, parts.clock);
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  connect(listener: SwarmListener): void {
    this.#listeners.add(listener);
    this.#broadcast.add(listener);
  }

  /** Stops sending to this listener; the work continues. */
  disconnect(listener: SwarmListener): void {
    this.#listeners.delete(listener);
    this.#broadcast.remove(listener);
  }

  /** The input has ended: without a request the adapter ends with an error. */
  abandon(): void {
    if (this.#request !== null) return;
    this.#broadcast.error('INVALID_INPUT', 'the input ended before a task-request came');
    this.#end(refusedCode);
  }

  receive(message: SwarmMessage, from: SwarmListener): void {
    if (message.type !== 'task-request') {
      this.refuse(`type: adapters send ${message.type}, they do not receive it`);
    } else if (this.#request === null) {
      this.#request = message;
      this.#rename(message);
      void this.#work(message).then(this.#end);
    } else if (isSame(this.#request, message)) {
      this.#broadcast.remove(from);
      this.#broadcast.add(from);
    } else this.refuse('this adapter works on another task');
  }

  refuse(reason: string): void {
    this.#broadcast.refusal(reason);
  }

  /** Called on SIGTERM: cancels the work. Without a request the adapter ends at once. */
  stop(): void {
    this.#stop.abort();
    if (this.#request === null) this.#end(exitCodeOf('stopped'));
  }

  #rename({ swarmId, containerId }: Request): void {
    this.#broadcast = new Broadcast({ swarmId, containerId }, this.#parts.clock);
    for (const listener of this.#listeners) this.#broadcast.add(listener);
  }

  async #work({ swarmId, payload }: Request): Promise<number> {
    const { data } = this.#parts.folders;
    let record: OutcomeRecord | null = null;
    let completion: Completion;
    try {
      refuseKeys(payload);
      record = openRecord(data, swarmId, payload);
      completion = await this.#runStories(record, payload);
      record.change({ completion });
    } catch (error) {
      completion = this.#failed(error);
      // A completion that cannot be recorded is sent as failed.
      attempt(() => record?.change({ completion }));
    }
    this.#broadcast.completion(completion);
    return exitCodeOf(completion.status);
  }

  async #runStories(record: OutcomeRecord, request: TaskRequest): Promise<Completion> {
    const { settings, folders, env } = this.#parts;
    requireProgram(settings.agent.command, env);
    const key = findKey(settings.agent, env, folders.secrets);
    const probe = probeOf(settings, env);
    if (probe !== null) await requireService(probe, this.#stop.signal);
    const agent = agentAuthor(settings);
    const git = new AgentGit(env, settings.author ?? agent);
    const repository = await this.#repository(git, request.repoUrl);
    const searched = request.repoUrl ? [repository.folder] : [folders.project, repository.folder];
    const task = readTaskFile(request.taskFilePath, searched);
    const taskName = taskNameOf(request.taskFilePath);
    const branch = new Branch(git, repository, request.branchName);
    await reconcileRecord(record, { branch, task, taskName });
    for (const [id, { status, output }] of Object.entries(record.outcome.stories))
      this.#broadcast.status(id, status, output);
    const checkouts = new GitCheckouts({ git, repository, branch, folder: join(folders.data, 'lanes') });
    const runner = new StoryRunner({
      task,
      taskName,
      helper: settings.author ? agent : null,
      runAgent: agentRunner(settings.agent, key),
      env: {
        ...env,
        ...request.envVars,
        ...agentEnv(settings.agent, key),
      },
      limits: { storyMs: ms(settings.storySeconds), stallMs: ms(settings.stallSeconds) },
      probe,
      checkouts,
      record,
      broadcast: this.#broadcast,
      log: this.#parts.log,
    });
    const completion = await runner.run(this.#stop.signal);
    if (completion.status === 'completed') await checkouts.remove();
    return completion;
  }

  /** A clone may take long; listeners get progress meanwhile. */
  async #repository(git: AgentGit, repoUrl: string | undefined): Promise<Repository> {
    const { folders } = this.#parts;
    const endBusy = repoUrl === undefined ? () => {} : this.#broadcast.busy(`cloning ${repoUrl}`);
    return openRepository(git, { repoUrl, ...folders, signal: this.#stop.signal }).finally(endBusy);
  }

  #failed(error: unknown): Completion {
    const { code, message } = error instanceof AdapterError ? error : new AdapterError('UNKNOWN_ERROR', String(error));
    const sent: SwarmErrorCode = code ?? 'UNKNOWN_ERROR';
    this.#broadcast.error(sent, message);
    const status = this.#stop.signal.aborted ? 'stopped' : 'failed';
    return { status, prUrl: null, errors: [clip(errorText(sent, message), maxErrorText)] };
  }
}

export function exitCodeOf(status: Completion['status']): number {
  return exitCodes[status];
}

function agentAuthor({ name, agent }: AdapterSettings): Author {
  return { name: `${name ?? basename(agent.command[0]!)} in Carrel`, email: 'agent@carrel.invalid' };
}

function ms(seconds: number | undefined): number | null {
  return seconds === undefined ? null : seconds * 1000;
}

function openRecord(folder: string, swarmId: string, request: TaskRequest): OutcomeRecord {
  const earlier = OutcomeRecord.read(folder);
  if (earlier === null || !isOf(earlier.outcome, request)) {
    return OutcomeRecord.create(folder, freshOutcome(swarmId, request));
  }
  earlier.change({ swarmId, completion: null });
  return earlier;
}

function isSame(a: Request, b: Request): boolean {
  return a.swarmId === b.swarmId && JSON.stringify(a.payload) === JSON.stringify(b.payload);
}

function attempt(act: () => void): void {
  try {
    act();
  } catch {
    // The completion is sent even if it cannot be recorded, ignoring.
  }
}
