import type { FoundView, NoteRequest, NoteView, SearchRequest } from '../../memory/api.ts';

/** The memory as tools use it. The caller is always the writer of its notes. */
export interface ToolMemory {
  save(
    note: Pick<NoteRequest, 'text' | 'collection' | 'metadata' | 'key'>,
    place: string | undefined,
  ): Promise<NoteView>;
  search(
    query: Pick<SearchRequest, 'text' | 'collection' | 'where' | 'limit'>,
    place: string | undefined,
  ): Promise<FoundView[]>;
  get(id: string): Promise<NoteView>;
  /** A caller that is not the user can forget only its own notes. */
  forget(id: string): Promise<NoteView>;
}
