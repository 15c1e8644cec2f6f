/** The projects of one user. */
import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import type { Kernel } from '../../../kernel/kernel.ts';
import type { Row } from '../../../kernel/store/store.ts';
import { Fault, isFault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import type { ProjectRequest, ProjectView } from '../api.ts';
import { languageWords } from '../model/language.ts';
import { checkProjectId, type Project, projectIdOf, type SpokeState, spokeName } from '../model/project.ts';
import type { Projects } from '../project.ts';

export interface ProjectParts extends Pick<Kernel, 'store' | 'now'> {
  readonly user: string;
  /** The names of language servers in config.yaml. */
  serverNames(): readonly string[];
  readonly sandboxes: {
    /** The real folder, if this user may use it. */
    project(path: string): string;
    remove(name: string, removal: { readonly force?: boolean }): Promise<unknown>;
  };
  /** Reverts or finishes an edit that was cut short. */
  settle(id: string): Promise<void>;
  readonly spokes: {
    isHealthy(id: string): boolean;
    /** Ends the connection, before the sandbox is removed. */
    release(id: string): void;
  };
}

const maxPerUser = 200;

export class UserProjects implements Projects {
  readonly #parts: ProjectParts;

  constructor(parts: ProjectParts) {
    this.#parts = parts;
  }

  all(): Project[] {
    return this.#parts.store.list('project', this.#parts.user).map(({ value }) => value);
  }

  /** Null: there is none. */
  get(id: string): Project | null {
    return this.#parts.store.find('project', this.#parts.user, id)?.value ?? null;
  }

  list(): ProjectView[] {
    return this.all().map((project) => this.#view(project));
  }

  show(id: string): ProjectView {
    return this.#view(this.find(id));
  }

  find(id: string): Project {
    return this.#row(id).value;
  }

  add({ folder: path, id: requestedId, mode = 'bind', test, languages, image }: ProjectRequest): ProjectView {
    const { store, user, now, sandboxes } = this.#parts;
    for (const word of languages ?? []) this.#checkLanguage(word);
    const folder = mode === 'elsewhere' ? elsewhere(path, requestedId, image) : sandboxes.project(required(path));
    const id = requestedId === undefined ? projectIdOf(basename(folder)) : checkProjectId(requestedId);
    const known = store.list('project', user);
    if (known.length >= maxPerUser) {
      throw new Fault('exhausted', `there are ${maxPerUser} projects already`, {
        hint: 'Remove one with: carrel project rm ID',
      });
    }
    const taken = known.find(({ value }) => spokeName(value.id) === spokeName(id));
    if (taken) throw isTaken(taken.name);
    const at = now();
    const named = { test: test ?? null, languages: languages ?? null, image: image ?? null };
    const value: Project = { id, folder, mode, ...named, createdAt: at };
    const event = { at, type: 'project.added', subject: id, data: { id, user } };
    try {
      store.insert({ kind: 'project', id: randomBytes(8).toString('hex'), owner: user, name: id, value }, event);
    } catch (error) {
      throw isFault(error, 'conflict') ? isTaken(id) : error;
    }
    return this.#view(value);
  }

  async remove(id: string, force: boolean): Promise<ProjectView> {
    const { store, user, now, sandboxes, spokes } = this.#parts;
    const row = this.#row(id);
    await this.#parts.settle(id).catch((error: unknown) => {
      if (!force) throw error;
    });
    spokes.release(id);
    await sandboxes
      .remove(spokeName(row.name), { force: force || row.value.mode === 'bind' })
      .catch((error: unknown) => {
        if (!isFault(error, 'not_found')) throw error;
      });
    store.remove(row, { at: now(), type: 'project.removed', subject: id, data: { id, user } });
    return this.#view(row.value);
  }

  /** Records a change of the state of the project's spoke, unless the project was removed meanwhile. */
  observed({ id, createdAt }: Project, state: SpokeState, reason: string | null): void {
    const { store, user, now } = this.#parts;
    const row = store.find('project', user, id);
    if (row === null || row.value.createdAt !== createdAt) return;
    // The same refusal again is not a change.
    if (state === 'unreachable' && row.value.trouble === reason) return;
    const event = { at: now(), type: `project.${state}`, subject: id, data: { id, user, reason } };
    store.update(row, { ...row.value, trouble: reason }, event, { lazy: true });
  }

  #checkLanguage(word: string): void {
    const known = [...Object.keys(languageWords), ...this.#parts.serverNames()];
    if (known.includes(word)) return;
    throw new Fault('invalid', `--lang: ${printable(word)} is not a known language`, {
      hint: `There are: ${known.join(', ')}; others can be named in config.yaml under hub.languageServers.`,
      data: { field: 'languages' },
    });
  }

  #row(id: string): Row<'project'> {
    const { store, user } = this.#parts;
    const row = store.find('project', user, checkProjectId(id));
    if (row !== null) return row;
    const names = store.list('project', user).map(({ name }) => name);
    const hint = names.length === 0 ? 'Add one with: carrel project add DIR' : `There are: ${names.join(', ')}`;
    throw new Fault('not_found', `no project ${id}`, { hint });
  }

  #view({ trouble = null, languages = null, image = null, ...project }: Project): ProjectView {
    const isHealthy = this.#parts.spokes.isHealthy(project.id);
    const state = isHealthy ? 'healthy' : trouble === null ? 'registered' : 'unreachable';
    return { ...project, languages, image, sandbox: spokeName(project.id), state, reason: isHealthy ? null : trouble };
  }
}

function required(folder: string | undefined): string {
  if (folder !== undefined) return folder;
  throw new Fault('invalid', 'a project needs a folder', { hint: 'carrel project add DIR' });
}

function elsewhere(folder: string | undefined, id: string | undefined, image: string | undefined): string {
  if (image !== undefined) {
    throw new Fault('invalid', 'a project that is elsewhere has no image: its programs are those of that place', {
      data: { field: 'image' },
    });
  }
  if (folder === undefined && id !== undefined) return '';
  throw new Fault('invalid', 'a project that is elsewhere has an id and no folder here', {
    hint: 'carrel project add --mode elsewhere --name ID',
  });
}

function isTaken(id: string): Fault {
  return new Fault('conflict', `a project ${id} exists already`, {
    hint: `Choose another with --name, or: carrel project rm ${id}`,
  });
}
