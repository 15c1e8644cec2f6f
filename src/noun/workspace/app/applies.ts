/** Applies changes to projects, and undoes that. One apply at a time per project; each is recorded before it begins. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeScratch } from '../../../kernel/home/home.ts';
import type { JobOwner } from '../../../kernel/job/job.ts';
import type { Row } from '../../../kernel/store/store.ts';
import { removeTree } from '../../../lib/file/file.ts';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { EncodedJson } from '../../../lib/wire/encoded-json.ts';
import { toText } from '../../../model/byte-path.ts';
import { asFault, Fault, isFault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import type { ApplyRequest, ApplyView, UndoView } from '../api.ts';
import { workspacePlace } from '../launch.ts';
import type { Apply } from '../model/apply.ts';
import type { GateKind } from '../model/change.ts';
import { listSnapshots, snapshotState } from '../snapshot/snapshot-list.ts';
import type { WorkspacePlace } from '../workspace.ts';
import { allowAlways, alwaysAllowed, askAgain } from './allowances.ts';
import { type ApplyOrder, isDry, orderOf, sourcesOf } from './apply-order.ts';
import { fetchCommits } from './commits.ts';
import type { TakenShown } from './thread-views.ts';
import {
  type OpenedWorkspace,
  openWorkspace,
  placeIn,
  requireFolder,
  type WorkspaceParts,
  withPausedSandbox,
} from './workspaces.ts';

type ApplyRow = Row<'apply'>;

interface Done {
  readonly taken: TakenShown;
  readonly apply: string | null;
  readonly branch: ApplyView['branch'];
}

/** A view whose paths are encoded already. */
type Shown<T> = Omit<T, 'paths'> & { readonly paths: EncodedJson };

export class Applies {
  readonly #parts: WorkspaceParts;

  constructor(parts: WorkspaceParts) {
    this.#parts = parts;
  }

  async apply(request: ApplyRequest): Promise<Shown<ApplyView>> {
    if (request.pick === undefined) return this.#apply(request, undefined);
    if (request.names.length > 1) throw new Fault('invalid', 'pick: parts are taken of one sandbox only');
    const scratch = makeScratch(this.#parts.home);
    try {
      return await this.#apply(request, scratch);
    } finally {
      await removeTree(scratch);
    }
  }

  /** `pickScratch`: the folder for versions that are made of the picked parts. */
  async #apply(request: ApplyRequest, pickScratch: string | undefined): Promise<Shown<ApplyView>> {
    const opened = await this.#open(request.names);
    const project = opened[0]!.place.project;
    const always = this.#always(project, request);
    const order = { ...request, allow: [...(request.allow ?? []), ...always], dryRun: isDry(request), pickScratch };
    const { taken, apply, branch } = await this.#parts.locks.run(`project:${project}`, async () => {
      await this.#finishEarlier(project);
      const take = order.branch === undefined ? this.#takeOver : this.#toBranch;
      return take.call(this, opened, project, order);
    });
    // Git inside may take long; other applies to the project do not wait for it.
    const fetched = taken.blocked || order.dryRun ? none : await this.#commits(opened, taken.hiddenInGit);
    const { paths, plan, blocked, hiddenInGit, ignored } = taken;
    const planned = { blocked, paths: new EncodedJson(paths), plan, hiddenInGit, ignored };
    return { apply, branch, always: [...always], ...planned, ...fetched };
  }

  /** The gates that are allowed without being named again. If the request changes them, that is done first. */
  #always(project: string, { allow = [], always, ask, dryRun }: ApplyRequest): readonly GateKind[] {
    const { store, sandboxes, now } = this.#parts;
    const parts = { store, owner: sandboxes.owner, now };
    if (ask !== undefined) askAgain(parts, project, ask);
    else if (always && !dryRun) allowAlways(parts, project, allow);
    return alwaysAllowed(parts, project);
  }

  get #owner(): JobOwner {
    return { user: this.#parts.sandboxes.owner };
  }

  async #open(names: readonly string[]): Promise<OpenedWorkspace[]> {
    const twice = names.find((name, index) => names.indexOf(name) < index);
    if (twice !== undefined) throw new Fault('invalid', `the sandbox ${printable(twice)} is named twice`);
    const opened: OpenedWorkspace[] = [];
    for (const name of names) opened.push(await openWorkspace(this.#parts, name));
    for (const { place, sandbox } of opened) requireFolder(place.project, sandbox);
    const projects = new Set(opened.map(({ place }) => place.project));
    if (projects.size > 1) {
      throw new Fault('invalid', `the sandboxes work on different projects: ${[...projects].join(', ')}`);
    }
    return opened;
  }

  async #takeOver(opened: readonly OpenedWorkspace[], project: string, request: ApplyOrder): Promise<Done> {
    const { threads, home } = this.#parts;
    const order = { ...orderOf(opened, project, request), expect: request.expect };
    const run = (journal: string | null) => threads.run(this.#owner, 'takeOverShown', { ...order, journal });
    if (request.dryRun) return { taken: await run(null), apply: null, branch: null };
    return this.#withPausedSandboxes(opened, async () => {
      const row = this.#begin(opened, project);
      crashPoint('apply:recorded');
      const taken = await run(join(home.applies, row.id)).catch(async (error) => {
        await this.#recoverOne(row, opened);
        throw error;
      });
      await this.#end(row, taken.changed ? 'done' : 'failed');
      return { taken, apply: taken.changed ? row.id : null, branch: null };
    });
  }

  async #toBranch(opened: readonly OpenedWorkspace[], project: string, request: ApplyOrder): Promise<Done> {
    const { threads, home } = this.#parts;
    const { branch: name = '', message = 'Take changes over', author = carrel, dryRun = false } = request;
    const scratch = makeScratch(home);
    try {
      const order = {
        ...orderOf(opened, project, request),
        branch: name,
        message,
        author,
        scratch,
        dryRun,
        expect: request.expect,
      };
      const run = () => threads.run(this.#owner, 'takeToBranchShown', order);
      const { commit, ...taken } = dryRun ? await run() : await this.#withPausedSandboxes(opened, run);
      return { taken, apply: null, branch: commit === null ? null : { name, commit } };
    } finally {
      await removeTree(scratch);
    }
  }

  /** Runs a task while none of these sandboxes can change. */
  #withPausedSandboxes<T>(opened: readonly OpenedWorkspace[], task: () => Promise<T>): Promise<T> {
    const [first, ...rest] = [...opened].sort((a, b) => (a.sandbox.id < b.sandbox.id ? -1 : 1));
    if (!first) return task();
    const row = this.#parts.store.get('sandbox', first.sandbox.id);
    if (!row) throw new Fault('not_found', `no sandbox ${first.sandbox.name}: it was removed meanwhile`);
    return withPausedSandbox(this.#parts, row, () => this.#withPausedSandboxes(rest, task));
  }

  #begin(opened: readonly OpenedWorkspace[], project: string): ApplyRow {
    const { store, sandboxes, home, now } = this.#parts;
    mkdirSync(home.applies, { recursive: true, mode: 0o700 });
    const id = `${Date.now().toString(36)}-${randomBytes(4).toString('hex')}`;
    const at = now();
    const value: Apply = {
      id,
      project,
      sandboxes: opened.map(({ sandbox }) => ({ id: sandbox.id, name: sandbox.name })),
      createdAt: at,
      state: 'begun',
    };
    const data = { project, user: sandboxes.owner, sandboxes: value.sandboxes.map(({ name }) => name) };
    const event = { at, type: 'apply.begun', subject: id, data };
    return store.insert({ kind: 'apply', id, owner: sandboxes.owner, name: id, value }, event);
  }

  /** Records the end of an apply; an apply that changed nothing is removed. */
  async #end(row: ApplyRow, state: Apply['state']): Promise<void> {
    const { store, home, now } = this.#parts;
    if (state !== 'failed') return this.#mark(row, state);
    await removeTree(join(home.applies, row.id));
    const event = {
      at: now(),
      type: 'apply.failed',
      subject: row.id,
      data: { project: row.value.project, user: row.owner },
    };
    store.remove(store.get('apply', row.id) ?? row, event);
  }

  #mark(row: ApplyRow, state: Apply['state'], data: Record<string, unknown> = {}): void {
    const { store, now } = this.#parts;
    const event = {
      at: now(),
      type: `apply.${state}`,
      subject: row.id,
      data: { project: row.value.project, user: row.owner, ...data },
    };
    store.update(store.get('apply', row.id) ?? row, { ...row.value, state }, event);
  }

  async #commits(opened: readonly OpenedWorkspace[], hiddenInGit: number): Promise<typeof none> {
    if (hiddenInGit === 0 || !existsSync(join(opened[0]!.place.project, '.git'))) return none;
    const commits: ApplyView['commits'] = [];
    const warnings: string[] = [];
    for (const { sandbox } of opened) {
      try {
        const fetch = () => fetchCommits(this.#parts, sandbox);
        commits.push(...(await this.#parts.locks.run(`commits:${sandbox.id}`, fetch)));
      } catch (error) {
        warnings.push(`the commits of ${sandbox.name} were not fetched: ${asFault(error).message}`);
      }
    }
    return { commits, warnings };
  }

  /** Undoes the last apply of this sandbox, including the changes of other sandboxes in that apply. */
  async undo(name: string): Promise<Shown<UndoView>> {
    const { store, sandboxes, locks } = this.#parts;
    const { id } = await sandboxes.kept(name).catch((error: unknown) => {
      throw isFault(error, 'not_found') ? outOfReach(name) : error;
    });
    const last = (...states: Apply['state'][]) =>
      store
        .list('apply')
        .findLast(({ value }) => states.includes(value.state) && value.sandboxes.some((sandbox) => sandbox.id === id));
    const project = last('done', ...unfinished)?.value.project;
    return locks.run(`project:${project}`, async () => {
      if (project !== undefined) await this.#finishEarlier(project);
      const row = last('done');
      if (!row) throw new Fault('not_found', `nothing of ${name} was applied`, { hint: 'carrel apply does that.' });
      const opened = await this.#openExisting(row.value);
      return this.#withPausedSandboxes(opened, () => this.#takeBack(row, opened));
    });
  }

  async #takeBack(row: ApplyRow, opened: readonly OpenedWorkspace[]): Promise<Shown<UndoView>> {
    const { threads, home } = this.#parts;
    const trash = makeScratch(home);
    this.#mark(row, 'undoing');
    const { paths } = await threads
      .run(this.#owner, 'undoShown', join(home.applies, row.id), trash)
      .catch(async (error) => {
        await this.#recoverOne(row, opened);
        throw error;
      })
      // The client does not wait for this, and a crash leaves it to the next start, which empties all scratch folders.
      .finally(() => void removeTree(trash).catch(() => {}));
    crashPoint('undo:taken-back');
    await this.#restoreListed(row, opened);
    this.#mark(row, 'undone');
    const names = row.value.sandboxes.map((sandbox) => sandbox.name);
    return { apply: row.id, sandboxes: names, paths: new EncodedJson(paths) };
  }

  /** Forks and snapshots stop counting these changes as applied. */
  async #restoreListed({ id, value }: ApplyRow, locked: readonly OpenedWorkspace[]): Promise<void> {
    const { store, home, threads, locks } = this.#parts;
    for (const row of store.list('sandbox').filter((one) => one.value.spec.project === value.project)) {
      const place = workspacePlace(row.value, home);
      if (place === null) continue;
      const restore = () =>
        threads.run(this.#owner, 'restoreListedChanges', id, [place, ...snapshotPlaces(home.sandbox(row.id), place)]);
      if (locked.some(({ sandbox }) => sandbox.id === row.id)) await restore();
      else await this.#parts.openFolder(row.id).then(() => locks.run(row.id, restore));
    }
  }

  async #openExisting({ sandboxes }: Apply): Promise<OpenedWorkspace[]> {
    const { store, home } = this.#parts;
    const found = sandboxes.flatMap(({ id }) => {
      const sandbox = store.get('sandbox', id)?.value;
      const place = sandbox && sandbox.spec.desired !== 'removed' && workspacePlace(sandbox, home);
      return sandbox && place ? [{ sandbox, place }] : [];
    });
    for (const { sandbox } of found) await this.#parts.openFolder(sandbox.id);
    return found;
  }

  /** Finishes or undoes applies that a crash interrupted. One that fails is tried again at the next start. */
  async recover(report: (id: string, fault: Fault) => void): Promise<void> {
    for (const row of this.#unfinished())
      await this.#recoverOne(row).catch((error: unknown) => report(row.id, asFault(error)));
  }

  #unfinished(): ApplyRow[] {
    return this.#parts.store.list('apply').filter(({ value }) => unfinished.includes(value.state));
  }

  /**
   * Finishes applies that could not be recovered when the daemon started: later that would bring back what was undone.
   */
  async #finishEarlier(project: string): Promise<void> {
    for (const row of this.#unfinished().filter(({ value }) => value.project === project)) {
      await this.#finishOne(row).catch((error: unknown) => {
        throw new Fault(
          'conflict',
          `an interrupted apply to ${project} cannot be finished: ${asFault(error).message}`,
          {
            hint: 'Correct this, then try again.',
            cause: error,
          },
        );
      });
    }
  }

  async #finishOne(row: ApplyRow): Promise<void> {
    const { store, reconciler } = this.#parts;
    for (const { id } of row.value.sandboxes) {
      const sandbox = store.get('sandbox', id);
      if (sandbox) await reconciler.refresh(sandbox);
    }
    const opened = await this.#openExisting(row.value);
    await this.#withPausedSandboxes(opened, () => this.#recoverOne(row, opened));
  }

  /** If something could not be put back, the journal stays: it has the only copy of the replaced files. */
  async #recoverOne(row: ApplyRow, opened?: readonly OpenedWorkspace[]): Promise<void> {
    const { threads, home } = this.#parts;
    const journal = join(home.applies, row.id);
    const { outcome, left } = await threads.run(this.#owner, 'recover', journal);
    const sources = sourcesOf(opened ?? (await this.#openExisting(row.value)));
    if (outcome === 'done') await threads.run(this.#owner, 'adoptAfterCrash', journal, row.value.project, sources);
    if (outcome === 'undone') await this.#restoreListed(row, opened ?? []);
    if (left.length > 0) this.#mark(row, 'failed', { left: left.map(toText) });
    else await this.#end(row, outcome === 'done' || outcome === 'undone' ? outcome : 'failed');
  }
}

/** The working copies that snapshots keep. */
function snapshotPlaces(sandboxFolder: string, place: WorkspacePlace): WorkspacePlace[] {
  return listSnapshots(sandboxFolder).map(({ id }) => placeIn(place, snapshotState(sandboxFolder, id)));
}

const unfinished: readonly Apply['state'][] = ['begun', 'undoing'];

function outOfReach(name: string): Fault {
  return new Fault('not_found', `no sandbox ${name}`, {
    hint: 'What was applied can be undone for as long as one of the sandboxes it came from exists. See: carrel ls',
  });
}

const carrel = { name: 'Carrel', email: 'carrel@localhost' };
const none: Pick<ApplyView, 'commits' | 'warnings'> = { commits: [], warnings: [] };
