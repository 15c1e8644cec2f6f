/** The memory as one caller may use it: a person, a token of the hub, or a sandbox. */

import { asFault, Fault } from '../../../model/fault.ts';
import type { ToolMemory } from '../../hub/app/hub-memory.ts';
import type { FoundView, NoteRequest, NoteView, SearchRequest } from '../api.ts';
import type { Memory, NewNote, Query, Vector } from '../memory.ts';
import {
  defaultCollection,
  isForeign,
  type MemoryScope,
  type Note,
  type NoteVia,
  type Writer,
} from '../model/memory.ts';
import type { LiveMemories } from './live-memories.ts';

/** What a caller may reach. */
export interface Reach {
  /** The scopes that the caller reads, all or those of one place; null: all scopes of the user. */
  readable(place: string | undefined): readonly MemoryScope[] | null;
  /** The scope that a note goes to. `denied` if the caller may not write there. */
  writable(place: string | undefined): MemoryScope;
}

export interface CallerParts {
  readonly liveMemories: Pick<LiveMemories, 'open' | 'embedder'>;
  /** The user whose memory it is. */
  readonly user: string;
  readonly writer: Writer;
  readonly via: NoteVia;
  readonly reach: Reach;
  /** Called when a vector could not be made. */
  readonly report: (subject: string, fault: Fault) => void;
}

const defaultLimit = 10;

/** A person as the writer of notes. */
export function person(name: string): Writer {
  return { kind: 'person', name, id: null, agent: null, session: null };
}

export class CallerMemory implements ToolMemory {
  readonly #parts: CallerParts;

  constructor(parts: CallerParts) {
    this.#parts = parts;
  }

  async save(note: NoteRequest, place?: string): Promise<NoteView> {
    const scope = this.#parts.reach.writable(place);
    const saved = await (await this.#open()).save(await this.newNote(note, scope));
    return this.view(saved);
  }

  async search(
    { text, vector, limit = defaultLimit, collection, where }: SearchRequest,
    place?: string,
  ): Promise<FoundView[]> {
    const scopes = this.#parts.reach.readable(place);
    const made = vector ?? (text === undefined ? null : await this.#vectorOf(text));
    const query: Query = { scopes, text, vector: made ?? undefined, limit, collection, where };
    const found = await (await this.#open()).search(query);
    return found.map(({ note, score, foundBy }) => ({ note: this.view(note), score, foundBy }));
  }

  async get(id: string): Promise<NoteView> {
    const note = await (await this.#open()).get(id, this.#parts.reach.readable(undefined));
    if (note === null) throw new Fault('not_found', `there is no note ${id}`);
    return this.view(note);
  }

  /** M4, M6: refuses to remove a note that the caller can only read. */
  async forget(id: string): Promise<NoteView> {
    const { reach, writer } = this.#parts;
    const { scope } = await this.get(id);
    reach.writable(scope);
    const by = writer.kind === 'person' ? null : writer;
    return this.view(await (await this.#open()).remove(id, [scope as MemoryScope], by));
  }

  view(note: Note): NoteView {
    return { ...note, foreign: isForeign(note, this.#parts.writer) };
  }

  /** If the caller brings no vector, the daemon makes one. */
  async newNote(
    { text, collection, metadata = {}, vector, expiresIn, key }: NoteRequest,
    scope: MemoryScope,
  ): Promise<NewNote> {
    const { writer: by, via } = this.#parts;
    const made = vector ?? (await this.#vectorOf(text));
    return {
      ...{ scope, collection: collection ?? defaultCollection, text, metadata, by, via },
      expiresAt: expiresIn === undefined ? null : new Date(Date.now() + expiresIn * 1000).toISOString(),
      vector: made,
      isVectorOptional: vector === undefined,
      ...(key === undefined ? {} : { key }),
    };
  }

  #open(): Promise<Memory> {
    return this.#parts.liveMemories.open(this.#parts.user);
  }

  /** Null: there is no embedder, or it failed; then only words are searched. */
  async #vectorOf(text: string): Promise<Vector | null> {
    const { liveMemories, user, report } = this.#parts;
    const embedder = liveMemories.embedder();
    if (embedder === null) return null;
    try {
      return { model: embedder.model, values: await embedder.embed(text) };
    } catch (error) {
      report(`memory of ${user}`, asFault(error));
      return null;
    }
  }
}
