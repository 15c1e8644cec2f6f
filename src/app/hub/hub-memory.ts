import type { FoundView, NoteRequest, NoteView, SearchRequest } from '../../api/memory.ts';

/** The memory as tools use it. Notes are of the caller, whatever the text says. */
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
  /** Of a caller that is not the user, only its own notes. */
  forget(id: string): Promise<NoteView>;
}
