/** Snapshots, forks, and the return to an earlier state. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Row } from '../../../kernel/store/store.ts';
import { diskUsage } from '../../../lib/file/disk.ts';
import { removeTree } from '../../../lib/file/file.ts';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { EncodedJson } from '../../../lib/wire/encoded-json.ts';
import { type BytePath, toText } from '../../../model/byte-path.ts';
import { Fault, isFault } from '../../../model/fault.ts';
import { checkSandboxName } from '../../../model/name.ts';
import { noNetwork } from '../../network/model/network.ts';
import type { SandboxView } from '../../sandbox/api.ts';
import { initialStatus, type Sandbox } from '../../sandbox/model.ts';
import type { DiscardView, RestoreView, SizeView, SnapshotView } from '../api.ts';
import {
  copyState,
  findSnapshot,
  listSnapshots,
  removeSnapshot,
  restoreSnapshot,
  takeSnapshot,
} from '../snapshot/snapshot.ts';
import type { WorkspacePlace } from '../workspace.ts';
import { forkingMark } from './sweep.ts';
import { bytePaths, openWorkspace, type WorkspaceParts, whileEnded, withPausedSandbox } from './workspaces.ts';

/** The paths are JSON already, unless there are none. */
type Discarded = Omit<DiscardView, 'paths'> & { readonly paths: DiscardView['paths'] | EncodedJson };

export class Snapshots {
  readonly #parts: WorkspaceParts;

  constructor(parts: WorkspaceParts) {
    this.#parts = parts;
  }

  async take(name: string, label: string | null): Promise<SnapshotView> {
    const row = await this.#parts.sandboxes.current(name);
    await this.#parts.keepBases(row.value);
    const snapshot = await withPausedSandbox(this.#parts, row, () => this.#take(row, label, false));
    this.#record(row, 'sandbox.snapshot_taken', { snapshot: snapshot.id, label });
    return snapshot;
  }

  #take({ id }: Row<'sandbox'>, label: string | null, auto: boolean): Promise<SnapshotView> {
    const { home, now } = this.#parts;
    return takeSnapshot(home.sandbox(id), { label, at: now(), auto });
  }

  async list(name: string): Promise<SnapshotView[]> {
    const { id } = await this.#parts.sandboxes.kept(name);
    await this.#parts.openFolder(id);
    return [...listSnapshots(this.#parts.home.sandbox(id))];
  }

  async remove(name: string, reference: string): Promise<SnapshotView> {
    const row = await this.#parts.sandboxes.current(name);
    await this.#parts.openFolder(row.id);
    const folder = this.#parts.home.sandbox(row.id);
    return this.#parts.locks.run(row.id, async () => {
      const snapshot = findSnapshot(folder, reference);
      await removeSnapshot(folder, snapshot.id);
      this.#record(row, 'sandbox.snapshot_removed', { snapshot: snapshot.id });
      return snapshot;
    });
  }

  async restore(name: string, reference: string): Promise<RestoreView> {
    const { sandboxes, home, now } = this.#parts;
    const row = await sandboxes.current(name);
    await this.#parts.openFolder(row.id);
    const folder = home.sandbox(row.id);
    const restored = findSnapshot(folder, reference);
    const before = await whileEnded(this.#parts, row, () => restoreSnapshot(folder, restored.id, now()));
    this.#record(row, 'sandbox.restored', { snapshot: restored.id, before: before.id });
    return { restored, before };
  }

  /** The discarded changes stay in a snapshot. */
  async discard(name: string, pathspecs: readonly string[] | undefined): Promise<Discarded> {
    const { sandboxes, threads } = this.#parts;
    const row = await sandboxes.current(name);
    const { place } = await openWorkspace(this.#parts, name);
    const paths = bytePaths(pathspecs);
    return whileEnded(this.#parts, row, async () => {
      if (!(await this.#hasChangesAt(place, paths))) return { paths: [], snapshot: null };
      const snapshot = await this.#take(row, 'before discard', true);
      const discarded = await threads.run({ user: sandboxes.owner }, 'discardShown', place, paths);
      this.#record(row, 'sandbox.discarded', { paths: discarded.count, snapshot: snapshot.id });
      return { paths: new EncodedJson(discarded.paths), snapshot };
    });
  }

  /** Refuses a path without changes, which is likely a typing error, if there are changes at other paths. */
  async #hasChangesAt(place: WorkspacePlace, paths: readonly BytePath[]): Promise<boolean> {
    try {
      const { threads, sandboxes } = this.#parts;
      const { count, idle } = await threads.run({ user: sandboxes.owner }, 'countChangesAt', place, paths);
      if (idle.length > 0 && count > 0) {
        throw new Fault('not_found', `nothing changed at ${idle.map(toText).join(', ')}`);
      }
      return count > 0;
    } catch (error) {
      // There are too many changes to list, so there is something to discard.
      if (isFault(error, 'exhausted')) return true;
      throw error;
    }
  }

  async sizes(): Promise<SizeView[]> {
    const { sandboxes, home } = this.#parts;
    const rows = sandboxes.rows().filter(({ id }) => existsSync(home.sandbox(id)));
    return Promise.all(rows.map(async ({ id, name }) => ({ name, sizeBytes: await diskUsage(home.sandbox(id)) })));
  }

  /** Creates sandboxes that begin with the state of this one. They are stopped: running processes cannot be copied. */
  async fork(
    name: string,
    requestedNames: readonly string[] = [],
    command?: readonly string[],
  ): Promise<SandboxView[]> {
    const { sandboxes } = this.#parts;
    const row = await sandboxes.current(name);
    if (command !== undefined) sandboxes.checkCommand({}, command);
    const names = requestedNames.length === 0 ? [sandboxes.records.freeName()] : requestedNames.map(checkSandboxName);
    const twice = names.find((one, index) => names.indexOf(one) < index);
    if (twice !== undefined) throw new Fault('invalid', `the fork ${twice} is named twice`);
    for (const one of names) sandboxes.records.refuseTaken(one);
    await this.#parts.keepBases(row.value);
    // The forks are recorded before the base that they share with the original can be removed.
    const rows = await withPausedSandbox(this.#parts, row, async () => {
      return this.#recordForks(row, names, await this.#copies(row, names.length), command);
    });
    return Promise.all(rows.map((fork) => sandboxes.settled(fork)));
  }

  async #recordForks(
    from: Row<'sandbox'>,
    names: readonly string[],
    ids: readonly string[],
    command: readonly string[] | undefined,
  ): Promise<Row<'sandbox'>[]> {
    const { home } = this.#parts;
    const rows: Row<'sandbox'>[] = [];
    try {
      for (const [index, id] of ids.entries()) {
        rows.push(this.#insert(from.value, id, names[index]!, command));
        crashPoint('fork:recorded');
        rmSync(join(home.sandbox(id), forkingMark));
      }
    } finally {
      for (const id of ids.slice(rows.length)) await removeTree(home.sandbox(id));
    }
    return rows;
  }

  /**
   * The state is copied before a fork is recorded, so a recorded fork is complete. A folder that a crash leaves is
   * marked as unfinished.
   */
  async #copies({ id }: Row<'sandbox'>, count: number): Promise<string[]> {
    const { home } = this.#parts;
    const ids = Array.from({ length: count }, () => randomBytes(8).toString('hex'));
    try {
      for (const fork of ids) {
        mkdirSync(home.sandbox(fork), { mode: 0o711 });
        writeFileSync(join(home.sandbox(fork), forkingMark), '');
        await copyState(home.sandbox(id), home.sandbox(fork));
      }
    } catch (error) {
      for (const fork of ids) await removeTree(home.sandbox(fork));
      throw error;
    }
    crashPoint('fork:copied');
    return ids;
  }

  #insert(from: Sandbox, id: string, name: string, command: readonly string[] = from.spec.command): Row<'sandbox'> {
    const { store, sandboxes, now } = this.#parts;
    const at = now();
    // A fork gets no ports, because a port of this machine leads to one sandbox.
    const network = { ...(from.spec.network ?? noNetwork), ports: [] };
    // A share may have been revoked since the copy began.
    const { shares = [] } = store.get('sandbox', from.id)?.value.spec ?? {};
    const spec = { ...from.spec, command, shares, network, desired: 'stopped', attempt: 1, autoRemove: false } as const;
    const value: Sandbox = { id, name, createdAt: at, spec, status: initialStatus };
    const event = { at, type: 'sandbox.forked', subject: id, data: { name, user: sandboxes.owner, from: from.name } };
    return sandboxes.records.insert(value, event);
  }

  #record({ id, name }: Row<'sandbox'>, type: string, data: Record<string, unknown>): void {
    const { store, now } = this.#parts;
    const row = store.get('sandbox', id);
    if (row)
      store.update(
        row,
        row.value,
        { at: now(), type, subject: id, data: { name, user: row.owner, ...data } },
        { lazy: true },
      );
  }
}
