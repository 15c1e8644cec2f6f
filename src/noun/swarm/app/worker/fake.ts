/** Containers without sandboxes for tests of workers: the test plays the adapter, and each action can fail. */
import { PassThrough } from 'node:stream';
import { Fault } from '../../../../model/fault.ts';
import type { ObservedContainer } from '../../../../model/foreign-container.ts';
import type { Completion, StoryStatus, SwarmErrorCode, SwarmMessage } from '../../model/message.ts';
import { encodeMessage, MessageReader } from '../../model/message-line.ts';
import type { FetchedTip, SwarmContainer } from '../../model/swarm.ts';
import type { AdapterConnection, ContainerActions, Fetched, RecordedOutcome } from './container-actions.ts';

const at = '2026-01-31T12:00:00.000Z';

/** The adapter at the other end of one connection. */
export class FakeAdapter {
  readonly output = new PassThrough();
  readonly received: SwarmMessage[] = [];
  readonly #ids: { readonly swarmId: string; readonly containerId: string };

  constructor({ swarmId, containerId }: SwarmContainer) {
    this.#ids = { swarmId, containerId };
  }

  progress(storyId: string, status: StoryStatus, output = ''): void {
    this.say({ type: 'progress-update', payload: { storyId, status, output } });
  }

  error(code: SwarmErrorCode, message: string): void {
    this.say({ type: 'error', payload: { code, message } });
  }

  completion(status: Completion['status'], errors: readonly string[] = []): void {
    this.say({ type: 'completion', payload: { status, prUrl: null, errors } });
  }

  say(message: Pick<SwarmMessage, 'type' | 'payload'>, ids = this.#ids): void {
    this.output.write(encodeMessage({ ...message, timestamp: at, ...ids } as SwarmMessage));
  }
}

export class FakeActions implements ContainerActions {
  readonly calls: string[] = [];
  readonly notes: SwarmContainer[] = [];
  readonly observed = new Map<string, ObservedContainer>();
  readonly records = new Map<string, RecordedOutcome>();
  tips: readonly FetchedTip[] = [];
  /** Stories whose commits are fetched; null: all. */
  landed: readonly string[] | null = null;
  /** Thrown once by the call of that name. */
  readonly faults = new Map<keyof ContainerActions, Fault>();
  /** Called with each new connection. */
  onConnect: (adapter: FakeAdapter, container: SwarmContainer) => void = () => {};

  #called(name: keyof ContainerActions, { containerName }: SwarmContainer): void {
    this.calls.push(`${name} ${containerName}`);
    const fault = this.faults.get(name);
    this.faults.delete(name);
    if (fault) throw fault;
  }

  async begin(container: SwarmContainer): Promise<number | null> {
    this.#called('begin', container);
    if (!this.observed.has(container.containerName)) this.become(container.containerName, { kind: 'running' });
    return 42;
  }

  async observe(container: SwarmContainer): Promise<ObservedContainer> {
    this.#called('observe', container);
    return this.observed.get(container.containerName) ?? { kind: 'waiting' };
  }

  async connect(container: SwarmContainer): Promise<AdapterConnection> {
    this.#called('connect', container);
    const adapter = new FakeAdapter(container);
    const input = new PassThrough();
    const reader = new MessageReader();
    input.on('data', (chunk: Buffer) => {
      for (const read of reader.push(chunk)) if ('message' in read) adapter.received.push(read.message);
    });
    setImmediate(() => this.onConnect(adapter, container));
    return { input, output: adapter.output, close: () => void adapter.output.destroy() };
  }

  async record(container: SwarmContainer): Promise<RecordedOutcome | null> {
    this.#called('record', container);
    return this.records.get(container.containerName) ?? null;
  }

  async stop(container: SwarmContainer): Promise<void> {
    this.#called('stop', container);
    this.become(container.containerName, { kind: 'paused' });
  }

  async ended(container: SwarmContainer): Promise<void> {
    this.#called('ended', container);
  }

  async fetch(container: SwarmContainer): Promise<Fetched> {
    this.#called('fetch', container);
    return { tips: this.tips, stories: this.landed ?? Object.keys(container.work?.stories ?? {}) };
  }

  async note(container: SwarmContainer): Promise<void> {
    this.#called('note', container);
    this.notes.push(container);
  }

  become(name: string, observed: ObservedContainer): void {
    this.observed.set(name, observed);
  }
}

export const engineAway = new Fault('unavailable', 'the engine does not answer');
