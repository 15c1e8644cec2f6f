/** The three versions of one path, and what can be said about their bytes. */
import type { BytePath } from '../../model/byte-path.ts';
import type { Change, Content, PlannedPath } from '../../model/change.ts';
import { isBinary } from '../tree/content.ts';
import type { Reader, Source } from '../tree/reader.ts';
import { type Merged, maxMergeBytes, mergeFile } from './merge-file.ts';
import type { Ours, Standing } from './ours.ts';
import type { Sameness } from './three-way.ts';

export class Versions implements Sameness {
  readonly change: Change;
  readonly ours: Standing | null;
  readonly #reader: Reader;
  readonly #project: string;
  readonly #layer: Ours;

  constructor(change: Change, layer: Ours, reader: Reader, project: string) {
    this.change = change;
    this.ours = layer.look(change.path);
    this.#layer = layer;
    this.#reader = reader;
    this.#project = project;
  }

  get theirs(): Source | null {
    return sourceOf(this.change.afterContent, this.change.path);
  }

  oursIsBase(): boolean {
    // One file, and its size is still that of the base.
    if (this.#isBaseInProject() && this.ours?.from === null) return true;
    const [ours, lost] = [this.ours?.source ?? null, this.change.beforeContent];
    if (lost?.at === 'lost' && lost.sha256 && ours) return this.#reader.hash(ours) === lost.sha256;
    return this.#same(ours, this.#base());
  }

  oursIsTheirs(): boolean {
    return this.#same(this.ours?.source ?? null, this.theirs);
  }

  theirsIsBase(): boolean {
    const { before, after, hardLink } = this.change;
    // A change that is no link is never equal in everything.
    return (before?.mode !== after?.mode || hardLink !== null) && this.#same(this.#base(), this.theirs);
  }

  theirsIs(source: Source): boolean {
    return this.#same(source, this.theirs);
  }

  kind(): PlannedPath['change'] {
    const { before, after } = this.change;
    if (before === null) return 'added';
    if (after === null) return 'deleted';
    if (before.type !== after.type) return 'retyped';
    if (before.type !== 'file') return before.type === 'folder' ? 'mode' : 'modified';
    if (before.sizeBytes !== after.sizeBytes || !this.theirsIsBase()) return 'modified';
    return before.mode === after.mode ? 'linked' : 'mode';
  }

  /** Words instead of a merge say why there can be none. */
  merge(sandbox: string): Merged | string {
    const sources = [this.change.before ? this.#base() : empty, this.ours?.source ?? null, this.theirs];
    if (sources[0] === null) return 'both changed it, and what it was changed from is no longer kept';
    const [base, ours, theirs] = sources.map((source) => source && this.#reader.read(source, maxMergeBytes));
    if (!base || !ours || !theirs) return 'both changed it, and it is too large to merge';
    if ([base, ours, theirs].some(isBinary)) return 'both changed it, and it is not text';
    return mergeFile({ base, ours, theirs, oursLabel: this.ours?.from ?? 'project', theirsLabel: sandbox });
  }

  #same(one: Source | null, other: Source | null): boolean {
    return one !== null && other !== null && this.#reader.same(one, other);
  }

  /** Null: nowhere. A base that is the project itself is gone once the project has moved on. */
  #base(): Source | null {
    const { before, beforeContent, path } = this.change;
    if (!this.#isBaseInProject()) return sourceOf(beforeContent, path);
    const now = this.#layer.onDisk(path)?.entry;
    const moved = now?.type !== 'file' || now.sizeBytes !== before?.sizeBytes || now.mode !== before.mode;
    return moved ? null : sourceOf(beforeContent, path);
  }

  #isBaseInProject(): boolean {
    const content = this.change.beforeContent;
    return content?.at === 'tree' && content.root === this.#project;
  }
}

const empty: Source = { from: 'bytes', bytes: new Uint8Array() };

function sourceOf(content: Content | null, path: BytePath): Source | null {
  return content === null || content.at === 'lost' ? null : { from: 'content', content, path };
}
