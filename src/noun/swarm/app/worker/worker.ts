/**
 * Runs one container from its turn in the queue until it has ended:
 *
 *   begin → read messages ⇄ connect again → completion → sandbox ended → commits fetched → task file → end recorded
 *
 * Commits are fetched during the work, too: a story counts as completed when its commit is on the host, whatever
 * happens to the sandbox then. Each result is recorded before the next step, so that after a crash another worker
 * continues. When the connection breaks while the adapter lives, the worker connects again, and the adapter repeats its
 * whole state.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { crashPoint } from '../../../../lib/flow/crash-point.ts';
import { asFault, faultTable } from '../../../../model/fault.ts';
import type { ObservedContainer } from '../../../../model/foreign-container.ts';
import { encodeMessage, MessageReader, type Read } from '../../model/message-line.ts';
import { type ContainerStatus, type ContainerWork, reconciled, type SwarmContainer } from '../../model/swarm.ts';
import type { SwarmState } from '../state/state.ts';
import type { AdapterConnection, ContainerActions } from './container-actions.ts';
import { Deadlines } from './deadlines.ts';
import {
  changeOf,
  completionFlaw,
  unsafeStories,
  withError,
  withFetched,
  withMessage,
  withOutcome,
  withSettledStories,
} from './work-change.ts';

export interface WorkerLimits {
  /** Time-out for all stories of a task file together. */
  readonly taskMs: number;
  /** Time-out without a message of the adapter. */
  readonly silenceMs: number;
}

export interface WorkerParts {
  readonly state: SwarmState;
  readonly actions: ContainerActions;
  readonly limits: WorkerLimits;
  /** The time between two writes of progress. */
  readonly writeMs: number;
  /** The time from the end of a story to the fetch of its commit; stories that end meanwhile are fetched with it. */
  readonly fetchMs: number;
  /** The pause before an engine that does not answer is asked again. */
  readonly retryMs: number;
  readonly now: () => string;
}

const reconnectMs = [0, 100, 500, 2000, 5000];
const endMs = 15_000;
/** The number of invalid lines after which the adapter counts as broken. */
const maxFlaws = 1000;

export class Worker {
  readonly #parts: WorkerParts;
  readonly #deadlines: Deadlines;
  #container: SwarmContainer;
  #work: ContainerWork;
  #connection: AdapterConnection | null = null;
  #writing: NodeJS.Timeout | null = null;
  #fetching: Promise<void> | null = null;
  #isFetchDue = false;
  #flaws = 0;
  #hasLeft = false;
  /** Aborts fetches in the background. */
  readonly #ending = new AbortController();

  constructor(parts: WorkerParts, container: SwarmContainer) {
    this.#parts = parts;
    this.#container = container;
    this.#work = container.work!;
    this.#deadlines = new Deadlines(parts.limits.taskMs, parts.limits.silenceMs, () => this.#connection?.close());
  }

  /** Resolves when the container has ended. Never rejects. */
  async run(): Promise<void> {
    try {
      if (this.#work.completion === null) await this.#live();
      await this.#finish();
    } catch (error) {
      if (!this.#hasLeft) this.#fail(error);
    } finally {
      this.#deadlines.dispose();
      this.#cancelWrite();
      this.#ending.abort();
    }
  }

  /** Stops the container; `run` resolves soon afterwards. */
  async stop(): Promise<void> {
    if (this.#work.desired !== 'stopped') this.#save({ work: { ...this.#work, desired: 'stopped' } }, 'swarm.stopping');
    await this.#parts.actions.stop(this.#container);
  }

  /** Disconnects and records nothing more; the adapter goes on. */
  leave(): void {
    this.#hasLeft = true;
    this.#connection?.close();
  }

  async #live(): Promise<void> {
    const { actions, now } = this.#parts;
    if (this.#work.startedAt === null) {
      const staleRecord = (await actions.record(this.#container))?.digest ?? null;
      this.#save({ work: { ...this.#work, staleRecord } }, 'swarm.beginning');
    }
    const acpPid = await actions.begin(this.#container);
    crashPoint('swarm:begun');
    if (this.#work.desired === 'stopped') await actions.stop(this.#container);
    if (this.#container.status === 'pending') {
      this.#save({ status: 'running', acpPid, work: { ...this.#work, startedAt: now() } }, 'swarm.running');
    }
    await this.#listen();
  }

  /** Listens until there is a completion, or no adapter that could send one. */
  async #listen(): Promise<void> {
    this.#deadlines.start();
    for (let losses = 0; !this.#isOver; losses++) {
      const broke = await this.#talk().then(
        () => 'the connection ended',
        (error: unknown) => asFault(error).message,
      );
      if (this.#isOver) break;
      const lost = () => this.#note(`ACP_CONNECTION_LOST: ${broke}; connecting again`);
      // The error is noted before the engine answers: by then the agent may be done, but it lived when the connection
      // broke.
      if ((await this.#observe(lost)).kind !== 'running') break;
      lost();
      await pause(reconnectMs[Math.min(losses, reconnectMs.length - 1)]);
    }
    this.#throwIfLeft();
    if (this.#isBroken) await this.#parts.actions.stop(this.#container);
    await this.#readRecord();
  }

  /** If this worker has left, missing results are no failure: the next worker gets them. */
  #throwIfLeft(): void {
    if (this.#hasLeft) throw new Error('left');
  }

  get #isOver(): boolean {
    return this.#work.completion !== null || this.#isBroken || this.#hasLeft;
  }

  /** Whether the adapter would never complete. */
  get #isBroken(): boolean {
    return this.#deadlines.late !== null || this.#flaws > maxFlaws;
  }

  /** Retries while the engine does not answer. */
  async #observe(onRetry: () => void = () => {}): Promise<ObservedContainer> {
    for (;;) {
      try {
        return await this.#parts.actions.observe(this.#container);
      } catch (error) {
        if (!faultTable[asFault(error).code].retry || this.#isBroken || this.#hasLeft) throw error;
        onRetry();
        await pause(this.#parts.retryMs);
      }
    }
  }

  async #talk(): Promise<void> {
    const connection = await this.#parts.actions.connect(this.#container);
    this.#connection = connection;
    try {
      // A deadline or `leave` during the connect had no connection to close.
      if (this.#isOver) return;
      connection.input.on('error', () => {});
      // An empty line ends a line that an earlier connection may have left unfinished.
      connection.input.write(Buffer.concat([Buffer.from('\n'), this.#request()]));
      const reader = new MessageReader();
      for await (const chunk of connection.output) {
        for (const read of reader.push(chunk as Buffer)) this.#take(read);
        if (this.#isOver) break;
      }
    } finally {
      this.#connection = null;
      connection.close();
    }
  }

  #request(): Buffer {
    const { swarmId, containerId, taskFilePath, branchName } = this.#container;
    const payload = { taskFilePath, branchName };
    return encodeMessage({ type: 'task-request', timestamp: this.#parts.now(), swarmId, containerId, payload });
  }

  #take(read: Read): void {
    if ('flaw' in read) return void this.#flaws++;
    const { message } = read;
    const { swarmId, containerId } = this.#container;
    if (message.type === 'task-request' || message.swarmId !== swarmId || message.containerId !== containerId) return;
    this.#deadlines.restartSilence();
    this.#update(withMessage(this.#work, message));
  }

  #update(work: ContainerWork): void {
    if (work === this.#work) return;
    const done = unsafeStories(work).length > unsafeStories(this.#work).length;
    this.#work = work;
    this.#writing ??= setTimeout(() => this.#write(), this.#parts.writeMs);
    if (done) this.#fetchSoon();
  }

  /** A commit that this fetch misses is fetched with the next story, or at the end. */
  #fetchSoon(): void {
    this.#isFetchDue = true;
    this.#fetching ??= this.#fetchWhileDue().finally(() => {
      this.#fetching = null;
    });
  }

  async #fetchWhileDue(): Promise<void> {
    const { actions, fetchMs } = this.#parts;
    while (this.#isFetchDue) {
      await pause(fetchMs, undefined, { signal: this.#ending.signal }).catch(() => {});
      if (this.#ending.signal.aborted || this.#hasLeft) return;
      this.#isFetchDue = false;
      const fetched = await actions.fetch(this.#container).catch(() => null);
      if (fetched !== null) this.#update(withFetched(this.#work, fetched));
    }
  }

  #note(text: string): void {
    if (!this.#isOver) this.#update(withError(this.#work, text));
  }

  /** The write is lazy, because the adapter repeats its state after a power cut. */
  #write(): void {
    this.#cancelWrite();
    if (this.#hasLeft) return;
    try {
      const change = changeOf(this.#container, this.#work);
      this.#container = this.#parts.state.change(this.#container, change, 'swarm.progress', true);
      void this.#parts.actions.note(this.#container).catch((error: unknown) => this.#note(asFault(error).message));
    } catch (error) {
      this.#note(`the progress was not recorded: ${asFault(error).message}`);
    }
  }

  #cancelWrite(): void {
    if (this.#writing !== null) clearTimeout(this.#writing);
    this.#writing = null;
  }

  async #readRecord(): Promise<void> {
    const kept = await this.#parts.actions.record(this.#container);
    if (kept === null || kept.digest === this.#work.staleRecord || kept.outcome.swarmId !== this.#container.swarmId)
      return;
    this.#update(withOutcome(this.#work, kept.outcome));
  }

  async #finish(): Promise<void> {
    const { actions, state } = this.#parts;
    this.#ending.abort();
    await this.#fetching;
    await this.#readRecord();
    this.#cancelWrite();
    this.#container = state.change(this.#container, changeOf(this.#container, this.#work), 'swarm.told');
    crashPoint('swarm:told');
    if (this.#work.completion !== null) await this.#awaitEnd();
    const observed = await this.#observe();
    await this.#fetch(observed);
    this.#throwIfLeft();
    crashPoint('swarm:fetched');
    const { status, reason } = this.#outcome(observed);
    this.#work = { ...withSettledStories(this.#work), reason };
    await actions.note({ ...this.#container, work: this.#work }).catch((error: unknown) => {
      this.#work = withError(this.#work, `the task file was not changed: ${asFault(error).message}`);
    });
    crashPoint('swarm:noted');
    this.#save({ ...changeOf(this.#container, this.#work), status, acpPid: null }, `swarm.${status}`);
  }

  /** After its completion the adapter has nothing more to do: waits for its end, then stops the sandbox. */
  async #awaitEnd(): Promise<void> {
    const { actions } = this.#parts;
    await actions.ended(this.#container, endMs);
    if ((await this.#observe()).kind === 'running') await actions.stop(this.#container);
  }

  async #fetch(observed: ObservedContainer): Promise<void> {
    if (observed.kind === 'absent' || observed.kind === 'waiting') return;
    try {
      this.#work = withFetched(this.#work, await this.#parts.actions.fetch(this.#container));
    } catch (error) {
      this.#work = withError(this.#work, `its commits were not fetched: ${asFault(error).message}`);
    }
  }

  #outcome(observed: ObservedContainer): { status: ContainerStatus; reason: string | null } {
    if (this.#deadlines.late !== null)
      return { status: 'failed', reason: `CONTAINER_TIMEOUT: ${this.#deadlines.late}` };
    if (this.#flaws > maxFlaws) return { status: 'failed', reason: 'AGENT_CRASH: it sends lines that are no messages' };
    const flaw = completionFlaw(this.#work);
    if (flaw !== null) return { status: 'failed', reason: flaw };
    const { completion } = this.#work;
    const outcome = reconciled({ status: 'running', completion }, observed) ?? { status: 'failed', reason: 'lost' };
    return this.#work.desired === 'stopped' && outcome.status === 'failed'
      ? { status: 'stopped', reason: null }
      : outcome;
  }

  #fail(error: unknown): void {
    this.#cancelWrite();
    const stopping = this.#work.desired === 'stopped';
    const work = { ...withSettledStories(this.#work), reason: stopping ? null : asFault(error).message };
    const status = stopping ? 'stopped' : 'failed';
    try {
      this.#save({ ...changeOf(this.#container, work), status, acpPid: null }, 'swarm.failed');
    } catch {
      // The store itself fails; the next daemon runs the container again, ignoring.
    }
  }

  #save(change: Partial<SwarmContainer>, type: string): void {
    this.#container = this.#parts.state.change(this.#container, change, type);
    this.#work = this.#container.work!;
  }
}
