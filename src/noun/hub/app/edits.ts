/**
 * Edits of files in one or more projects, applied in all of them or in none (decision 53).
 *
 *   begun      a row in the store                   from here on a crash takes the edit back
 *   prepared   every spoke checked it and staged the new contents
 *   applied    every spoke exchanged its files
 *   done       the row says so: the decision        from here on a crash keeps the edit
 *   concluded  every spoke removed its journal, and the store its row
 *
 * A spoke that cannot be reached is concluded later: before the next call to its project, or when the daemon starts.
 */
import { randomBytes } from 'node:crypto';
import type { Kernel } from '../../../kernel/kernel.ts';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { Exclusive } from '../../../lib/flow/exclusive.ts';
import { asFault, Fault } from '../../../model/fault.ts';
import type { Project } from '../../project/model/project.ts';
import type { FileChange, PreparedEdit } from '../model/edit.ts';
import type { Spokes } from './spoke/spokes.ts';

export interface EditParts extends Pick<Kernel, 'store' | 'now'> {
  readonly user: string;
  readonly spokes: Pick<Spokes, 'call'>;
  readonly projects: { all(): readonly Project[] };
}

export interface ProjectChanges {
  readonly project: Project;
  readonly changes: readonly FileChange[];
}

export interface ProjectEdit extends PreparedEdit {
  readonly project: string;
}

/** An edit that is not concluded in all its projects yet. */
interface Open {
  readonly projects: Set<string>;
  /** Paths that could not be restored. */
  readonly left: string[];
}

export class Edits {
  readonly #parts: EditParts;
  readonly #locks = new Exclusive();
  readonly #open: Map<string, Open>;

  constructor(parts: EditParts) {
    this.#parts = parts;
    const rows = parts.store.list('edit', parts.user);
    this.#open = new Map(rows.map(({ value }) => [value.id, openOf(value.projects)]));
  }

  /** What the edit would do. */
  preview(edit: readonly ProjectChanges[]): Promise<ProjectEdit[]> {
    return this.#prepare(newId(), edit, true);
  }

  /** Applies one edit at a time in each project. */
  apply(edit: readonly ProjectChanges[], signal: AbortSignal): Promise<ProjectEdit[]> {
    const ids = edit.map(({ project }) => project.id).sort();
    return this.#locked(ids, () => this.#apply(edit, ids, signal));
  }

  #locked<T>([first, ...rest]: readonly string[], task: () => Promise<T>): Promise<T> {
    return first === undefined ? task() : this.#locks.run(first, () => this.#locked(rest, task));
  }

  async #apply(edit: readonly ProjectChanges[], ids: readonly string[], signal: AbortSignal): Promise<ProjectEdit[]> {
    await Promise.all(ids.map((id) => this.#concludeProject(id)));
    const id = newId();
    this.#begin(id, ids);
    try {
      crashPoint('edits:begun');
      const prepared = await this.#prepare(id, edit, false);
      crashPoint('edits:prepared');
      if (signal.aborted) throw new Fault('cancelled', 'the edit was cancelled before it was applied');
      await all(edit.map(({ project }) => this.#parts.spokes.call(project, 'edit/apply', { id })));
      crashPoint('edits:applied');
      this.#decide(id);
      crashPoint('edits:done');
      await this.#conclude(id, ids);
      return prepared;
    } catch (error) {
      throw withTrouble(error, await this.#conclude(id, ids));
    }
  }

  async #prepare(id: string, edit: readonly ProjectChanges[], dryRun: boolean): Promise<ProjectEdit[]> {
    const { spokes } = this.#parts;
    return all(
      edit.map(async ({ project, changes }) => {
        const prepared = await spokes.call(project, 'edit/prepare', { id, changes, dryRun });
        return { project: project.id, ...prepared };
      }),
    );
  }

  #begin(id: string, projects: readonly string[]): void {
    const { store, user, now } = this.#parts;
    const createdAt = now();
    const event = { at: createdAt, type: 'edit.begun', subject: id, data: { user, projects } };
    const value = { id, projects, state: 'begun' as const, createdAt };
    store.insert({ kind: 'edit', id, owner: user, name: id, value }, event);
  }

  #decide(id: string): void {
    const { store, user, now } = this.#parts;
    const row = store.get('edit', id)!;
    const event = { at: now(), type: 'edit.done', subject: id, data: { user, projects: row.value.projects } };
    store.update(row, { ...row.value, state: 'done' }, event);
  }

  /** Returns what went wrong; failed projects are tried again later. */
  async #conclude(id: string, projects: readonly string[]): Promise<string[]> {
    const open = openOf(projects);
    this.#open.set(id, open);
    const settled = await Promise.allSettled(projects.map((project) => this.#concludeIn(id, project)));
    const failed = settled.flatMap((one, index) =>
      one.status === 'rejected'
        ? [`project ${projects[index]} is not restored yet: ${asFault(one.reason).message}`]
        : [],
    );
    return [...failed, ...open.left.map((path) => `${path} was changed meanwhile and left as it is`)];
  }

  isOpen(project: string): boolean {
    return [...this.#open.values()].some(({ projects }) => projects.has(project));
  }

  /** Projects with an edit that was not concluded, because a daemon or a spoke was lost. */
  unsettled(): string[] {
    return [...new Set([...this.#open.values()].flatMap(({ projects }) => [...projects]))];
  }

  /** Reverts or finishes the open edits of this project. */
  settle(project: string): Promise<void> {
    return this.#locks.run(project, () => this.#concludeProject(project));
  }

  async #concludeProject(project: string): Promise<void> {
    for (const [id, { projects }] of [...this.#open]) if (projects.has(project)) await this.#concludeIn(id, project);
  }

  async #concludeIn(id: string, project: string): Promise<void> {
    const { store, spokes, projects } = this.#parts;
    const open = this.#open.get(id)!;
    const row = store.get('edit', id)!;
    const found = projects.all().find((one) => one.id === project);
    if (found && row.value.state === 'done') await spokes.call(found, 'edit/finish', { id });
    else if (found) {
      const { left } = await spokes.call(found, 'edit/abort', { id });
      open.left.push(...left.map((path) => `${project}: ${path}`));
    }
    open.projects.delete(project);
    if (open.projects.size === 0) this.#end(id, open);
  }

  #end(id: string, { left }: Open): void {
    const { store, user, now } = this.#parts;
    const row = store.get('edit', id)!;
    const { state, projects } = row.value;
    crashPoint('edits:concluded');
    const type = state === 'done' ? 'edit.finished' : 'edit.aborted';
    store.remove(row, { at: now(), type, subject: id, data: { user, projects, left } });
    this.#open.delete(id);
  }
}

function newId(): string {
  return randomBytes(8).toString('hex');
}

function openOf(projects: readonly string[]): Open {
  return { projects: new Set(projects), left: [] };
}

/** Waits for all calls, so that none still runs during an abort; then throws the first failure. */
async function all<T>(calls: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(calls);
  return Promise.all(calls);
}

function withTrouble(error: unknown, trouble: readonly string[]): unknown {
  if (trouble.length === 0) return error;
  const { code, message } = asFault(error);
  return new Fault(code, `${message}; ${trouble.join('; ')}`, {
    cause: error,
    hint: 'What is not restored yet is restored before the next call to its project.',
  });
}
