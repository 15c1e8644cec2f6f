/** The adapter as a whole: takes the one request, has it worked on, and ends. Who is connected comes and goes meanwhile. */
import { basename, join } from 'node:path';
import type { AdapterSettings } from '../model/agent.ts';
import { clip } from '../model/shape.ts';
import {
  type Completion,
  containerIdPattern,
  errorText,
  maxErrorText,
  type SwarmErrorCode,
  type SwarmMessage,
  type TaskRequest,
} from '../model/swarm-message.ts';
import { Setback } from './agent.ts';
import { freshOutcome, isOf, readTaskFile, settle, taskNameOf } from './begin.ts';
import { Branch } from './branch.ts';
import { type Clock, type Listener, Voice } from './broadcast.ts';
import { GitCheckouts } from './checkout.ts';
import { Drive } from './drive.ts';
import { exitCodeOf } from './exit.ts';
import { type Author, Git } from './git.ts';
import { findKey, keyEnv, refuseKeys } from './key.ts';
import { workOf } from './kind/kind.ts';
import { requireProgram } from './program.ts';
import { OutcomeRecord } from './record.ts';
import { openRepository, type Repository } from './repository.ts';
import { probeOf, requireService } from './service.ts';

export interface Places {
  readonly workspace: string;
  /** The project as it was, which the agent cannot change. */
  readonly project: string;
  readonly data: string;
  readonly secrets: string;
}

export interface AdapterParts {
  readonly settings: AdapterSettings;
  readonly places: Places;
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly log: (storyId: string, lines: readonly string[]) => void;
}

type Request = Extract<SwarmMessage, { type: 'task-request' }>;

/** Says nothing about a swarm before one is named. */
const noSwarm = '00000000-0000-4000-8000-000000000000';
const noContainer = '0'.repeat(12);
const refusedCode = 2;

export class Adapter {
  readonly #parts: AdapterParts;
  readonly #stop = new AbortController();
  readonly #listeners = new Set<Listener>();
  #voice: Voice;
  #request: Request | null = null;
  #end: (exitCode: number) => void = () => {};
  /** The exit code, when everything has been said. */
  readonly ended: Promise<number>;

  constructor(parts: AdapterParts) {
    this.#parts = parts;
    const { CARREL_SANDBOX: given = '' } = parts.env;
    const containerId = containerIdPattern.test(given) ? given : noContainer;
    this.#voice = new Voice({ swarmId: noSwarm, containerId }, parts.clock);
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  connect(listener: Listener): void {
    this.#listeners.add(listener);
    this.#voice.add(listener);
  }

  /** Nothing ends by this, unless nobody has asked for anything and nobody is left to. */
  disconnect(listener: Listener): void {
    this.#listeners.delete(listener);
    this.#voice.remove(listener);
  }

  /** No request will come. */
  abandon(): void {
    if (this.#request !== null) return;
    this.#voice.error('INVALID_INPUT', 'the input ended before a task-request came');
    this.#end(refusedCode);
  }

  receive(message: SwarmMessage, from: Listener): void {
    if (message.type !== 'task-request') {
      this.refuse(`type: ${message.type} is said by adapters, not to them`);
    } else if (this.#request === null) {
      this.#request = message;
      this.#rename(message);
      void this.#work(message).then(this.#end);
    } else if (isSame(this.#request, message)) {
      this.#voice.remove(from);
      this.#voice.add(from);
    } else this.refuse('another task is being worked on here');
  }

  refuse(reason: string): void {
    this.#voice.refusal(reason);
  }

  /** As SIGTERM does. */
  stop(): void {
    this.#stop.abort();
    if (this.#request === null) this.#end(exitCodeOf('stopped'));
  }

  #rename({ swarmId, containerId }: Request): void {
    this.#voice = new Voice({ swarmId, containerId }, this.#parts.clock);
    for (const listener of this.#listeners) this.#voice.add(listener);
  }

  async #work({ swarmId, payload }: Request): Promise<number> {
    const { data } = this.#parts.places;
    let record: OutcomeRecord | null = null;
    let completion: Completion;
    try {
      refuseKeys(payload);
      record = openRecord(data, swarmId, payload);
      completion = await this.#drive(record, payload);
      record.change({ completion });
    } catch (error) {
      completion = this.#failed(error);
      // Where it cannot be recorded, no completion is claimed either: it says that the work failed.
      attempt(() => record?.change({ completion }));
    }
    this.#voice.completion(completion);
    return exitCodeOf(completion.status);
  }

  async #drive(record: OutcomeRecord, request: TaskRequest): Promise<Completion> {
    const { settings, places, env } = this.#parts;
    requireProgram(settings.agent.command, env);
    const key = findKey(settings.agent, env, places.secrets);
    const probe = probeOf(settings, env);
    if (probe !== null) await requireService(probe, this.#stop.signal);
    const agent = agentAuthor(settings);
    const git = new Git(env, settings.author ?? agent);
    const repository = await this.#repository(git, request.repoUrl);
    const folders = request.repoUrl ? [repository.folder] : [places.project, repository.folder];
    const task = readTaskFile(request.taskFilePath, folders);
    const taskName = taskNameOf(request.taskFilePath);
    const branch = new Branch(git, repository, request.branchName);
    await settle(record, { branch, task, taskName });
    for (const [id, { status, output }] of Object.entries(record.outcome.stories))
      this.#voice.status(id, status, output);
    const checkouts = new GitCheckouts({ git, repository, branch, folder: join(places.data, 'lanes') });
    const drive = new Drive({
      task,
      taskName,
      helper: settings.author ? agent : null,
      work: workOf(settings.agent, key),
      env: { ...env, ...request.envVars, ...(settings.agent.kind === 'claude' ? {} : keyEnv(key)) },
      limits: { storyMs: ms(settings.storySeconds), stallMs: ms(settings.stallSeconds) },
      probe,
      checkouts,
      record,
      voice: this.#voice,
      log: this.#parts.log,
    });
    const completion = await drive.run(this.#stop.signal);
    if (completion.status === 'completed') await checkouts.remove();
    return completion;
  }

  /** A clone may take long, and whoever listens hears meanwhile that it is under way. */
  async #repository(git: Git, repoUrl: string | undefined): Promise<Repository> {
    const { places } = this.#parts;
    const quiet = repoUrl === undefined ? () => {} : this.#voice.busy(`cloning ${repoUrl}`);
    return openRepository(git, { repoUrl, ...places, signal: this.#stop.signal }).finally(quiet);
  }

  #failed(error: unknown): Completion {
    const { code, message } = error instanceof Setback ? error : new Setback('UNKNOWN_ERROR', String(error));
    const told: SwarmErrorCode = code ?? 'UNKNOWN_ERROR';
    this.#voice.error(told, message);
    const status = this.#stop.signal.aborted ? 'stopped' : 'failed';
    return { status, prUrl: null, errors: [clip(errorText(told, message), maxErrorText)] };
  }
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
    // Said before, ignoring.
  }
}
