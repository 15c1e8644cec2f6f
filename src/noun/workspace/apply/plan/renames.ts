/** Files that an agent renamed without changing them, whose new name the project does not take. */
import type { Change, PlannedPath } from '../../model/change.ts';
import type { ContentSource, Reader } from '../../tree/reader.ts';

interface Addition {
  readonly change: Change;
  readonly planned: PlannedPath;
}

export class Renames {
  readonly #reader: Reader;
  readonly #notTaken: readonly Addition[];

  constructor(reader: Reader, decided: ReadonlyMap<Change, PlannedPath>) {
    this.#reader = reader;
    const isNotTaken = ([{ before, after }, { outcome }]: readonly [Change, PlannedPath]) =>
      before?.type !== 'file' && after?.type === 'file' && (outcome === 'ours' || outcome === 'left');
    this.#notTaken = [...decided].filter(isNotTaken).map(([change, planned]) => ({ change, planned }));
  }

  /** The new name of this deleted file, if the project does not take it under that name; null: it may be removed. */
  keeps(deleted: Change): PlannedPath | null {
    // Two empty files are no sign of a rename.
    if (deleted.before?.type !== 'file' || deleted.before.sizeBytes === 0) return null;
    return this.#notTaken.find(({ change }) => this.#isSame(deleted, change))?.planned ?? null;
  }

  #isSame({ path, before, beforeContent }: Change, added: Change): boolean {
    const now: ContentSource = { from: 'content', content: added.afterContent!, path: added.path };
    if (added.after!.sizeBytes !== before!.sizeBytes || beforeContent === null) return false;
    if (beforeContent.at === 'lost') return beforeContent.sha256 === this.#reader.hash(now);
    return this.#reader.same({ from: 'content', content: beforeContent, path }, now);
  }
}
