/** The memory of one user, for the routes. */
import { realpathSync } from 'node:fs';
import type { Store } from '../../../kernel/store/store.ts';
import { asFault, Fault, isFault } from '../../../model/fault.ts';
import type {
  ForgetRequest,
  FoundView,
  ImportRequest,
  ImportView,
  MemoryStatsView,
  NoteRequest,
  NotesQuery,
  NoteView,
  SearchRequest,
} from '../api.ts';
import type { Memory, MemorySettings, Selection, StoredVector } from '../memory.ts';
import { type MemoryScope, scopeKind } from '../model/memory.ts';
import { CallerMemory, type CallerParts, person, type Reach } from './caller-memory.ts';

export interface UserMemoryParts extends Pick<CallerParts, 'liveMemories' | 'user' | 'report'> {
  readonly store: Pick<Store, 'find'>;
  readonly config: { readonly memory: MemorySettings };
  /** The Chroma server that config.yaml names, if it does. */
  readonly chroma: {
    status(): MemoryStatsView['chroma'];
    /** Erases what the sandboxes of a user have there. */
    erase(user: string): Promise<void>;
  };
}

interface Place {
  readonly project?: string | undefined;
  readonly sandboxName?: string | undefined;
}

const defaultLimit = 50;
const maxLimit = 1000;

/** A person reads everything; `place` is a scope already. */
const reach: Reach = {
  readable: (place) => (place === undefined ? null : [place as MemoryScope]),
  writable: (place) => (place ?? 'user') as MemoryScope,
};

export class UserMemory {
  readonly #parts: UserMemoryParts;
  readonly #own: CallerMemory;

  constructor(parts: UserMemoryParts) {
    this.#parts = parts;
    this.#own = this.#notes('cli');
  }

  save({ project, sandboxName, ...note }: NoteRequest): Promise<NoteView> {
    return this.#own.save(note, this.#scope({ project, sandboxName }));
  }

  search({ project, sandboxName, ...query }: SearchRequest): Promise<FoundView[]> {
    return this.#own.search(query, this.#scope({ project, sandboxName }));
  }

  get(id: string): Promise<NoteView> {
    return this.#own.get(id);
  }

  remove(id: string): Promise<NoteView> {
    return this.#own.forget(id);
  }

  async list({ before, limit = defaultLimit, ...selection }: NotesQuery): Promise<NoteView[]> {
    const page = { ...this.#selection(selection), before: before ?? null, limit: Math.min(limit, maxLimit) };
    return (await (await this.#open()).list(page)).map((note) => this.#own.view(note));
  }

  async vectors(ids: readonly string[]): Promise<StoredVector[]> {
    return [...(await (await this.#open()).vectors(ids))];
  }

  async forget(request: ForgetRequest): Promise<{ removed: number }> {
    return { removed: await (await this.#open()).removeAll(this.#selection(request)) };
  }

  /** Erases what the sandboxes of the user have in a Chroma server. */
  async eraseChroma(): Promise<{ erased: true }> {
    const { config, chroma, user } = this.#parts;
    if (config.memory.chroma === null) {
      throw new Fault('not_found', 'config.yaml names no Chroma server', {
        hint: 'Set memory.chroma in config.yaml; see docs/memory.md.',
      });
    }
    await chroma.erase(user);
    return { erased: true };
  }

  /**
   * M7: the user becomes the writer; the writer and time in the file are kept as the origin. A note that is imported
   * twice is one note.
   */
  async import({ project, sandboxName, notes }: ImportRequest): Promise<ImportView> {
    const memory = await this.#open();
    const own = this.#notes('import');
    const refused: ImportView['refused'] = [];
    const scope = this.#scope({ project, sandboxName });
    const saves = notes.map(async ({ id, scope: old, by, at, expiresAt = null, vector, ...note }) => {
      try {
        const imported = await own.newNote({ ...note, key: `import:${id}` }, scope ?? importScope(old));
        await memory.save({ ...imported, expiresAt, origin: { by, at }, ...(vector === undefined ? {} : { vector }) });
      } catch (error) {
        if (!isFault(error, 'invalid') && !isFault(error, 'conflict')) throw error;
        refused.push({ id, reason: asFault(error).message });
      }
    });
    await Promise.all(saves);
    return { saved: notes.length - refused.length, refused };
  }

  async stats(): Promise<MemoryStatsView> {
    const { config, chroma: server } = this.#parts;
    const { limits, embedding } = config.memory;
    const status = await (await this.#open()).status(null);
    const { notes, bytes, searchesVectors, setAside } = status;
    const collections = status.collections.map((one) => ({ ...one, kind: scopeKind(one.scope) }));
    const chroma = config.memory.chroma === null ? null : server.status();
    return {
      ...{ notes, bytes, quotaBytes: limits.totalBytes, collections, embedding: embedding?.model ?? null },
      ...{ searchesVectors, setAside, chroma },
    };
  }

  #open(): Promise<Memory> {
    return this.#parts.liveMemories.open(this.#parts.user);
  }

  #notes(via: CallerParts['via']): CallerMemory {
    const { liveMemories, report, user } = this.#parts;
    return new CallerMemory({ liveMemories, report, user, writer: person(user), reach, via });
  }

  #selection({ project, sandboxName, collection, where }: Place & Pick<Selection, 'collection' | 'where'>): Selection {
    const scope = this.#scope({ project, sandboxName });
    return { scopes: scope === undefined ? null : [scope], collection, where };
  }

  #scope({ project, sandboxName }: Place): MemoryScope | undefined {
    if (sandboxName !== undefined) return `sandbox:${this.#sandboxId(sandboxName)}`;
    return project === undefined ? undefined : `project:${realFolder(project)}`;
  }

  #sandboxId(name: string): string {
    const { store, user } = this.#parts;
    const row = store.find('sandbox', user, name);
    if (row === null) throw new Fault('not_found', `no sandbox ${name}`, { hint: 'See: carrel ls' });
    return row.id;
  }
}

/** A sandbox of another installation has no scope here: its notes become the user's. */
function importScope(scope: string): MemoryScope {
  return scope.startsWith('project:/') ? (scope as MemoryScope) : 'user';
}

/** The real path, as sandboxes name it. Notes of a folder that is gone are found by the given path. */
function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
