/** The observed state of shares: which consumer sees the folder now. */
import { lstatSync } from 'node:fs';
import { ForeignContainer } from '../../../kernel/engine/docker/foreign/foreign-container.ts';
import type { Kernel } from '../../../kernel/kernel.ts';
import { asFault, isFault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import { hasEnded, type Sandbox } from '../../sandbox/model.ts';
import type { ConsumerView, ShareView } from '../api.ts';
import { openFolder } from '../folder.ts';
import { type Consumer, consumerText, isOutside, type Share } from '../model.ts';
import { mountedAt } from '../mounted.ts';
import { guestSettings } from './account.ts';
import { consumerOf, keyOf, sandboxesOf } from './consumer-sandboxes.ts';
import type { ShareRow } from './record.ts';

export interface ObserverParts extends Pick<Kernel, 'store' | 'engineOf'> {
  readonly dockerSocket: () => string | null;
}

type State = Pick<ConsumerView, 'state' | 'detail'>;

export class Observer {
  readonly #parts: ObserverParts;

  constructor(parts: ObserverParts) {
    this.#parts = parts;
  }

  async view(row: ShareRow): Promise<ShareView> {
    const { name, folder, groupId, createdAt } = row.value;
    const consumers = await Promise.all(this.consumers(row).map((one) => this.#consumer(row, one)));
    return { name, folder, groupId, createdAt, consumers, warnings: this.warnings(row.value) };
  }

  /** Consumers in the record, and sandboxes that were created with the share. */
  consumers({ id, owner, value }: ShareRow): Consumer[] {
    const { store } = this.#parts;
    const others = store.list('sandbox', owner).flatMap((row): Consumer[] => {
      const mount = row.value.spec.shares?.find((one) => one.id === id);
      if (!mount || consumerOf(store, owner, value.consumers, keyOf(row)) !== null) return [];
      return [{ kind: 'sandbox', name: row.name, path: mount.target, readonly: mount.readonly, uid: null }];
    });
    return [...value.consumers, ...others];
  }

  /** The sandboxes that a consumer of the share is or has now. */
  sandboxes({ owner, value }: ShareRow, consumer: Consumer): Sandbox[] {
    const all = value.consumers.includes(consumer) ? value.consumers : [...value.consumers, consumer];
    return sandboxesOf(this.#parts.store, owner, all, consumer).map((row) => row.value);
  }

  warnings(share: Share): string[] {
    try {
      openFolder(share).close();
      const { mode } = lstatSync(share.folder);
      return mode & 0o002 ? [`every account of this machine can write it: chmod o-w ${share.folder}`] : [];
    } catch (error) {
      if (!isFault(error)) throw error;
      return [error.message];
    }
  }

  async #consumer(row: ShareRow, consumer: Consumer): Promise<ConsumerView> {
    const { path, readonly } = consumer;
    const state = await this.#state(row, consumer).catch((error: unknown): State => {
      return { state: 'unknown', detail: asFault(error).message };
    });
    return { consumer: consumerText(consumer), path, readonly, ...state };
  }

  async #state(row: ShareRow, consumer: Consumer): Promise<State> {
    if (!isOutside(consumer)) return this.#inSandboxes(row, consumer);
    if (consumer.kind === 'docker') return inContainer(row.value, consumer, this.#parts.dockerSocket());
    return consumer.kind === 'lxc' ? inGuest(row.value, consumer) : granted;
  }

  /**
   * The state of a project: `missing` if one of its running sandboxes lacks the share, else `mounted` if one has it,
   * else that of a sandbox that does not run.
   */
  async #inSandboxes(row: ShareRow, consumer: Consumer): Promise<State> {
    const all = this.sandboxes(row, consumer);
    if (all.length === 0) return waiting(`there is no sandbox ${noneOf(consumer)} yet`);
    const states = await Promise.all(all.map((one) => this.#inSandbox(row, one, consumer)));
    const order = [({ state }: State) => state === 'missing', ({ state }: State) => state === 'mounted', () => true];
    return order.map((is) => states.find(is)).find((one) => one !== undefined)!;
  }

  async #inSandbox({ id }: ShareRow, sandbox: Sandbox, consumer: Consumer): Promise<State> {
    const { name, spec, status } = sandbox;
    if (status.state !== 'running') return waiting(`${consumer.kind === 'project' ? name : 'it'} is ${status.state}`);
    const path = spec.shares?.find((one) => one.id === id)?.target ?? consumer.path;
    const access = mountedAt(await this.#pidOf(sandbox), path);
    return access === null ? missing(`carrel stop ${name}; carrel start ${name}`) : mounted;
  }

  /**
   * A process in the mount namespace of a sandbox; null: it does not run. Asks the engine, because a crash may have
   * kept a start from being recorded. A sandbox that was created and not started is removed; its next start creates it
   * again. The caller holds the sandbox by `alone`.
   */
  async runningPid(sandbox: Sandbox): Promise<number | null> {
    const { id, spec, status } = sandbox;
    if (hasEnded(status) && spec.attempt === status.attempt) return null;
    const engine = this.#parts.engineOf(sandbox);
    const { kind } = await engine.inspect(id, status.handle);
    if (kind === 'created') await engine.stop(id, status.handle, 0);
    return kind === 'running' || kind === 'paused' ? this.#pidOf(sandbox) : null;
  }

  async #pidOf(sandbox: Sandbox): Promise<number> {
    return (await this.#parts.engineOf(sandbox).network(sandbox.id, sandbox.status.handle)).pid;
  }
}

const mounted: State = { state: 'mounted', detail: null };
const granted: State = { state: 'granted', detail: null };
const waiting = (detail: string): State => ({ state: 'waiting', detail });
const missing = (detail: string): State => ({ state: 'missing', detail });

function noneOf({ kind, name }: Consumer): string {
  return kind === 'project' ? `of project ${name}` : name;
}

async function inContainer({ name, folder }: Share, consumer: Consumer, socket: string | null): Promise<State> {
  const found = await new ForeignContainer(consumer.name, socket).look();
  if (found === null) return waiting('there is no such container yet');
  const mount = found.mounts.find(({ target }) => target === consumer.path);
  if (mount === undefined) return missing(`carrel share render ${name} --for docker`);
  if (mount.source !== folder) return missing(`${printable(mount.source)} is mounted there`);
  return found.isRunning ? mounted : waiting('it does not run');
}

/** Checks the settings of the guest; only a probe can say whether the guest was started with them. */
function inGuest({ name, folder }: Share, { name: guest, path }: Consumer): State {
  const settings = guestSettings(guest);
  if (settings === null) return { state: 'unknown', detail: 'its settings are not on this machine' };
  const isNamed = settings.split('\n').some((line) => line.includes(folder) && line.includes(path.slice(1)));
  return isNamed ? granted : missing(`carrel share render ${name} --for lxc`);
}
