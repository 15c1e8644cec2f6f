/**
 * Changes as people and programs read them: a unified diff, and a summary of each path. Nothing is left out: a note describes
 * what git cannot show. The output of git is passed on byte by byte; only names are quoted. The program that shows it on a
 * terminal escapes control characters.
 */
import { type BytePath, isText, toBytes, toText } from '../../../../model/byte-path.ts';
import { Fault } from '../../../../model/fault.ts';
import type { Change, Entry, EntryType } from '../../model/change.ts';
import { type DiffEntry, type LineCount, openDiff } from './git-diff.ts';
import type { ChangeFacts, GitStore } from './git-store.ts';
import { factLine, type LeftOut, leftOut, notes, octal } from './review-notes.ts';
import { isWhole } from './stored-content.ts';

export interface ChangeSummary {
  readonly path: string;
  /** The exact bytes, if the name is not text. */
  readonly pathBase64: string | undefined;
  /** Added, modified (content or mode), deleted, renamed, of another type. */
  readonly status: 'A' | 'M' | 'D' | 'R' | 'T';
  /** The old path of a renamed file. */
  readonly from: string | undefined;
  readonly fromBase64: string | undefined;
  /** Octal; null: there is none. */
  readonly oldMode: string | null;
  readonly newMode: string | null;
  readonly oldType: EntryType | null;
  readonly newType: EntryType | null;
  readonly oldSize: number | null;
  readonly newSize: number | null;
  /** Lines; null for a file that is binary, large or unreadable. */
  readonly insertions: number | null;
  readonly deletions: number | null;
  /** Hashes of binary and large files only. */
  readonly oldSha256: string | undefined;
  readonly newSha256: string | undefined;
  readonly baseKnown: boolean;
}

export async function* unifiedDiff(store: GitStore, left: LeftOut): AsyncGenerator<Buffer> {
  for await (const batch of sectionBatches(store)) yield Buffer.concat(batch.map(({ section }) => section));
  const words = [...notes(store), ...leftOut(left)];
  if (words.length > 0) yield Buffer.from(`${words.join('\n')}\n`);
}

export interface DiffSection {
  readonly entry: DiffEntry;
  readonly section: Buffer;
}

export async function* diffSections(store: GitStore): AsyncGenerator<DiffSection> {
  for await (const batch of sectionBatches(store)) yield* batch;
}

/** A change of type has two sections: one removes the old entry, one adds the new one. */
async function* sectionBatches(store: GitStore): AsyncGenerator<DiffSection[]> {
  const { entries, sections } = await openDiff(store, ['-p']);
  const order = entries.flatMap((entry) => (entry.status === 'T' ? [entry, entry] : [entry]));
  let next = 0;
  for await (const batch of sections) {
    yield batch.map((section) => {
      const entry = order[next++];
      if (entry === undefined) throw new Fault('internal', `git shows more than ${order.length} changes`);
      return { entry, section: withFacts(section, entry, store.facts) };
    });
  }
  if (next !== order.length) throw new Fault('internal', `git shows ${next} of ${order.length} changes`);
}

const notShown = Buffer.from('\nBinary files ');

/** Adds the facts about a file that is not shown to its section. `git apply` refuses such a section. */
function withFacts(section: Buffer, entry: DiffEntry, facts: ReadonlyMap<BytePath, ChangeFacts>): Buffer {
  const known = factsOf(entry, facts);
  if (known === undefined || !section.includes(notShown)) return section;
  const text = section.toString('latin1');
  // A change of type has two sections, each with the facts of one side.
  const half = {
    before: text.includes('\nnew file mode ') ? null : known.before,
    after: text.includes('\ndeleted file mode ') ? null : known.after,
  };
  const hasHashes = [half.before, half.after].every((fact) => fact === null || isWhole(fact));
  const head = hasHashes ? section : Buffer.from(text.replace(hashesOfStandIns, '$10000000..0000000'), 'latin1');
  return Buffer.concat([head, Buffer.from(`${factLine(entry.path, half)}\n`)]);
}

const hashesOfStandIns = /(\nindex )[0-9a-f]+\.\.[0-9a-f]+/;

function factsOf({ path, from }: DiffEntry, facts: ReadonlyMap<BytePath, ChangeFacts>): ChangeFacts | undefined {
  const [here, there] = [facts.get(path), from === null ? undefined : facts.get(from)];
  if (there === undefined) return here;
  return { before: there.before, after: here?.after ?? null };
}

export async function summary(store: GitStore): Promise<ChangeSummary[]> {
  const { entries, counts, sections } = await openDiff(store, ['--numstat']);
  for await (const _ of sections);
  const seen = new Map(entries.map((entry, index) => [entry.path, { entry, count: counts[index]! }]));
  const movedAway = new Set(entries.map(({ from }) => from));
  const byPath = new Map(store.changes.map((change) => [change.path, change]));
  return store.changes
    .filter(({ path, after }) => after !== null || !movedAway.has(path))
    .map((change) => {
      const { entry, count } = seen.get(change.path) ?? {};
      const source = entry?.from == null ? undefined : byPath.get(entry.from);
      return summarised(change, source, entry ? factsOf(entry, store.facts) : undefined, count);
    });
}

const noLines: LineCount = { insertions: 0, deletions: 0 };

function summarised(
  change: Change,
  source: Change | undefined,
  facts: ChangeFacts | undefined,
  count = noLines,
): ChangeSummary {
  const { path, after } = change;
  // If a renamed file replaces something that is not a file, that is a change of type first.
  const before = change.before ?? source?.before ?? null;
  // All summaries have the same fields in the same order: there may be tens of thousands, and V8 shares their layout.
  return {
    path: toText(path),
    pathBase64: base64(path),
    status: statusOf(change, source),
    from: source && toText(source.path),
    fromBase64: source && base64(source.path),
    oldMode: modeOf(before),
    newMode: modeOf(after),
    oldType: before?.type ?? null,
    newType: after?.type ?? null,
    oldSize: before?.sizeBytes ?? null,
    newSize: after?.sizeBytes ?? null,
    insertions: facts ? null : count.insertions,
    deletions: facts ? null : count.deletions,
    oldSha256: plainHash(facts?.before),
    newSha256: plainHash(facts?.after),
    baseKnown: change.baseKnown && (source?.baseKnown ?? true),
  };
}

function statusOf({ before, after }: Change, source: Change | undefined): ChangeSummary['status'] {
  if (after === null) return 'D';
  if (before === null) return source === undefined ? 'A' : 'R';
  return before.type === after.type ? 'M' : 'T';
}

/** A file that is mostly zeros has a hash that other programs do not know. */
function plainHash(fact: ChangeFacts['before'] | undefined): string | undefined {
  return fact?.sha256?.startsWith('sparse:') ? undefined : (fact?.sha256 ?? undefined);
}

function modeOf(entry: Entry | null): string | null {
  return entry === null || entry.type === 'link' ? null : octal(entry.mode);
}

function base64(path: BytePath): string | undefined {
  return isText(path) ? undefined : toBytes(path).toString('base64');
}
