/**
 * Looks after one container from when it is its turn until it has ended.
 *
 *   begin → listen ⇄ connect again → completion noted → sandbox ended → commits fetched → task file → end recorded
 *
 * Commits are fetched while it works, too: a story counts as completed when its commit is on the host, whatever becomes of
 * the sandbox then. All that counts is written down before the next step, so another worker goes on from there after a crash. A line that
 * breaks while the adapter lives is connected again; the adapter tells anew how everything stands.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { crashPoint } from '../lib/crash-point.ts';
import { asFault, consequences } from '../model/fault.ts';
import { encodeMessage, MessageReader, type Read } from '../model/message-line.ts';
import {
  type ContainerStatus,
  type ContainerWork,
  type ObservedContainer,
  reconciled,
  type SwarmContainer,
} from '../model/swarm.ts';
import type { SwarmState } from './state.ts';
import type { Line, Surface } from './surface.ts';
import {
  changeOf,
  checkedCompletion,
  openStories,
  told,
  toldByRecord,
  unsafeStories,
  withError,
  withFetched,
} from './told.ts';
import { Watch } from './watch.ts';

export interface WorkerLimits {
  /** For all stories of a task file together. */
  readonly taskMs: number;
  /** Without a word of the adapter. */
  readonly silenceMs: number;
}

export interface WorkerParts {
  readonly state: SwarmState;
  readonly surface: Surface;
  readonly limits: WorkerLimits;
  /** Between two changes that are written down, unless one counts. */
  readonly everyMs: number;
  /** From a story that is done to its commit being fetched; others that are done meanwhile come along. */
  readonly fetchMs: number;
  /** Before an engine is asked again that could not be. */
  readonly awayMs: number;
  readonly now: () => string;
}

const againMs = [0, 100, 500, 2000, 5000];
const endMs = 15_000;
/** An adapter that says as much nonsense is none. */
const maxFlaws = 1000;
const notOnHost = 'what was done did not come to the host';

export class Worker {
  readonly #parts: WorkerParts;
  readonly #watch: Watch;
  #container: SwarmContainer;
  #work: ContainerWork;
  #line: Line | null = null;
  #writing: NodeJS.Timeout | null = null;
  #fetching: Promise<void> | null = null;
  #isDue = false;
  #flaws = 0;
  #left = false;

  /** Nothing more is fetched on the side. */
  readonly #ending = new AbortController();

  constructor(parts: WorkerParts, container: SwarmContainer) {
    this.#parts = parts;
    this.#container = container;
    this.#work = container.work!;
    this.#watch = new Watch(parts.limits.taskMs, parts.limits.silenceMs, () => this.#line?.close());
  }

  /** Until it has ended. Never throws. */
  async run(): Promise<void> {
    try {
      if (this.#work.completion === null) await this.#live();
      await this.#finish();
    } catch (error) {
      if (!this.#left) this.#fail(error);
    } finally {
      this.#watch.dispose();
      this.#cancelWrite();
      this.#ending.abort();
    }
  }

  /** As soon as may be; `run` settles then. */
  async stop(): Promise<void> {
    if (this.#work.desired !== 'stopped') this.#save({ work: { ...this.#work, desired: 'stopped' } }, 'swarm.stopping');
    await this.#parts.surface.stop(this.#container);
  }

  /** Says and records nothing more; the adapter goes on. */
  leave(): void {
    this.#left = true;
    this.#line?.close();
  }

  async #live(): Promise<void> {
    const { surface, now } = this.#parts;
    if (this.#work.startedAt === null) {
      const staleRecord = (await surface.record(this.#container))?.digest ?? null;
      this.#save({ work: { ...this.#work, staleRecord } }, 'swarm.beginning');
    }
    const acpPid = await surface.begin(this.#container);
    crashPoint('swarm:begun');
    if (this.#work.desired === 'stopped') await surface.stop(this.#container);
    if (this.#container.status === 'pending') {
      this.#save({ status: 'running', acpPid, work: { ...this.#work, startedAt: now() } }, 'swarm.running');
    }
    await this.#listen();
  }

  /** Until there is a completion, or nobody who could say one. */
  async #listen(): Promise<void> {
    this.#watch.start();
    for (let losses = 0; !this.#isOver; losses++) {
      const broke = await this.#talk().then(
        () => 'the line ended',
        (error: unknown) => asFault(error).message,
      );
      if (this.#isOver) break;
      const lost = () => this.#note(`ACP_CONNECTION_LOST: ${broke}, and is made again`);
      // An agent may be done before its engine is back: it lived when the line broke.
      if ((await this.#observe(lost)).kind !== 'running') break;
      lost();
      await pause(againMs[Math.min(losses, againMs.length - 1)]);
    }
    this.#stay();
    if (this.#isSenseless) await this.#parts.surface.stop(this.#container);
    await this.#readRecord();
  }

  /** What cannot be had because we leave is had by the next one. */
  #stay(): void {
    if (this.#left) throw new Error('left');
  }

  get #isOver(): boolean {
    return this.#work.completion !== null || this.#isSenseless || this.#left;
  }

  /** It would go on without end. */
  get #isSenseless(): boolean {
    return this.#watch.late !== null || this.#flaws > maxFlaws;
  }

  /** An engine that is away for a while is asked again. */
  async #observe(onAway: () => void = () => {}): Promise<ObservedContainer> {
    for (;;) {
      try {
        return await this.#parts.surface.observe(this.#container);
      } catch (error) {
        if (!consequences[asFault(error).code].retry || this.#isSenseless || this.#left) throw error;
        onAway();
        await pause(this.#parts.awayMs);
      }
    }
  }

  async #talk(): Promise<void> {
    const line = await this.#parts.surface.connect(this.#container);
    this.#line = line;
    try {
      // Who was told to let go meanwhile had no line yet.
      if (this.#isOver) return;
      line.input.on('error', () => {});
      // An empty line ends what somebody before may have left.
      line.input.write(Buffer.concat([Buffer.from('\n'), this.#request()]));
      const reader = new MessageReader();
      for await (const chunk of line.output) {
        for (const read of reader.push(chunk as Buffer)) this.#take(read);
        if (this.#isOver) break;
      }
    } finally {
      this.#line = null;
      line.close();
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
    this.#watch.heard();
    this.#learn(told(this.#work, message));
  }

  #learn(work: ContainerWork): void {
    if (work === this.#work) return;
    const done = unsafeStories(work).length > unsafeStories(this.#work).length;
    this.#work = work;
    this.#writing ??= setTimeout(() => this.#write(), this.#parts.everyMs);
    if (done) this.#fetchSoon();
  }

  /** What cannot be fetched now is fetched with the next story, or at the end. */
  #fetchSoon(): void {
    this.#isDue = true;
    this.#fetching ??= this.#fetchWhileDue().finally(() => {
      this.#fetching = null;
    });
  }

  async #fetchWhileDue(): Promise<void> {
    const { surface, fetchMs } = this.#parts;
    while (this.#isDue) {
      await pause(fetchMs, undefined, { signal: this.#ending.signal }).catch(() => {});
      if (this.#ending.signal.aborted || this.#left) return;
      this.#isDue = false;
      const fetched = await surface.fetch(this.#container).catch(() => null);
      if (fetched !== null) this.#learn(withFetched(this.#work, fetched));
    }
  }

  #note(text: string): void {
    if (!this.#isOver) this.#learn(withError(this.#work, text));
  }

  /** What can be told again need not survive a power cut. */
  #write(): void {
    this.#cancelWrite();
    if (this.#left) return;
    try {
      const change = changeOf(this.#container, this.#work);
      this.#container = this.#parts.state.change(this.#container, change, 'swarm.progress', true);
      void this.#parts.surface.note(this.#container).catch((error: unknown) => this.#note(asFault(error).message));
    } catch (error) {
      this.#note(`the progress was not recorded: ${asFault(error).message}`);
    }
  }

  #cancelWrite(): void {
    if (this.#writing !== null) clearTimeout(this.#writing);
    this.#writing = null;
  }

  async #readRecord(): Promise<void> {
    const kept = await this.#parts.surface.record(this.#container);
    if (kept === null || kept.digest === this.#work.staleRecord || kept.outcome.swarmId !== this.#container.swarmId)
      return;
    this.#learn(toldByRecord(this.#work, kept.outcome));
  }

  async #finish(): Promise<void> {
    const { surface, state } = this.#parts;
    this.#ending.abort();
    await this.#fetching;
    await this.#readRecord();
    this.#cancelWrite();
    this.#container = state.change(this.#container, changeOf(this.#container, this.#work), 'swarm.told');
    crashPoint('swarm:told');
    if (this.#work.completion !== null) await this.#awaitEnd();
    const observed = await this.#observe();
    await this.#fetch(observed);
    this.#stay();
    crashPoint('swarm:fetched');
    const { status, reason } = this.#outcome(observed);
    this.#settleStories();
    this.#work = { ...this.#work, reason };
    await surface.note({ ...this.#container, work: this.#work }).catch((error: unknown) => {
      this.#work = withError(this.#work, `the task file was not changed: ${asFault(error).message}`);
    });
    crashPoint('swarm:noted');
    this.#save({ ...changeOf(this.#container, this.#work), status, acpPid: null }, `swarm.${status}`);
  }

  /** Who has said the last word has nothing more to do. */
  async #awaitEnd(): Promise<void> {
    const { surface } = this.#parts;
    await surface.ended(this.#container, endMs);
    if ((await this.#observe()).kind === 'running') await surface.stop(this.#container);
  }

  /** Nobody works on them any more, and what is nowhere but in the sandbox is not done. */
  #settleStories(): void {
    const lost = unsafeStories(this.#work);
    const stories = Object.entries(this.#work.stories).map(([id, story]) => {
      if (lost.includes(id)) return [id, { status: 'failed' as const, output: notOnHost }];
      return [id, story.status === 'in_progress' ? { ...story, status: 'failed' as const } : story];
    });
    this.#work = { ...this.#work, stories: Object.fromEntries(stories) };
  }

  async #fetch(observed: ObservedContainer): Promise<void> {
    if (observed.kind === 'absent' || observed.kind === 'waiting') return;
    try {
      this.#work = withFetched(this.#work, await this.#parts.surface.fetch(this.#container));
    } catch (error) {
      this.#work = withError(this.#work, `its commits were not fetched: ${asFault(error).message}`);
    }
  }

  #outcome(observed: ObservedContainer): { status: ContainerStatus; reason: string | null } {
    if (this.#watch.late !== null) return { status: 'failed', reason: `CONTAINER_TIMEOUT: ${this.#watch.late}` };
    if (this.#flaws > maxFlaws) return { status: 'failed', reason: 'AGENT_CRASH: it speaks nonsense' };
    const lost = unsafeStories(this.#work);
    if (this.#work.completion?.status === 'completed' && lost.length > 0)
      return { status: 'failed', reason: `lost: ${notOnHost}: ${lost.join(', ')}` };
    const completion = checkedCompletion(this.#work);
    if (completion === null && this.#work.completion !== null) {
      return { status: 'failed', reason: `no_completion: open are ${openStories(this.#work).join(', ')}` };
    }
    const outcome = reconciled({ status: 'running', completion }, observed) ?? { status: 'failed', reason: 'lost' };
    return this.#work.desired === 'stopped' && outcome.status === 'failed'
      ? { status: 'stopped', reason: null }
      : outcome;
  }

  #fail(error: unknown): void {
    this.#cancelWrite();
    this.#settleStories();
    const stopping = this.#work.desired === 'stopped';
    const work = { ...this.#work, reason: stopping ? null : asFault(error).message };
    const status = stopping ? 'stopped' : 'failed';
    try {
      this.#save({ ...changeOf(this.#container, work), status, acpPid: null }, 'swarm.failed');
    } catch {
      // The store itself is away; the next daemon looks at it again, ignoring.
    }
  }

  #save(change: Partial<SwarmContainer>, type: string): void {
    this.#container = this.#parts.state.change(this.#container, change, type);
    this.#work = this.#container.work!;
  }
}
