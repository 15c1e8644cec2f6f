/**
 * Parts of changes: those that `apply -p` offers, and those that the reviewer takes. A file is identified by the hash
 * of its section in the diff, so that nothing is taken that the reviewer did not see.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BytePath, isWithin } from '../../model/byte-path.ts';
import { Fault } from '../../model/fault.ts';
import type { DiffEntry } from './git/review/git-diff.ts';
import { type GitStore, openStore } from './git/review/git-store.ts';
import { diffSections } from './git/review/review.ts';
import { notes } from './git/review/review-notes.ts';
import type { Change, Content, Entry } from './model/change.ts';
import { editedHunks, type HunkEdit } from './model/hunk-edit.ts';
import { parseSection, withBlocks } from './model/patch-section.ts';
import { type ReviewInput, reviewedChanges } from './review-job.ts';
import { readContent } from './tree/content.ts';

export interface OfferedFile extends DiffEntry {
  readonly id: string;
  /** Whether its blocks can be taken one by one. */
  readonly divisible: boolean;
  readonly section: Buffer;
}

export interface Offer {
  readonly files: readonly OfferedFile[];
  /** Lines about changes that have no section. */
  readonly others: readonly string[];
}

/** What the reviewer takes of one file. */
export interface Pick {
  readonly id: string;
  /** Undefined: all of it. */
  readonly blocks?: readonly number[] | undefined;
  /** Whether the new mode is taken, if only some blocks are. */
  readonly mode?: boolean | undefined;
  /** Hunks that the reviewer edited, instead of their blocks. */
  readonly edits?: readonly HunkEdit[] | undefined;
}

/** The paths to take, each with the version that takes the place of the agent's; null: the agent's. */
export type Chosen = ReadonlyMap<BytePath, Version | null>;

export interface Version {
  readonly after: Entry;
  readonly afterContent: Content;
}

/** Sections are kept in memory, here and in the client. */
const maxBytes = 64 * 1024 * 1024;

export async function offer(input: ReviewInput): Promise<Offer> {
  const { changes } = await reviewedChanges(input);
  if (changes.length === 0) return { files: [], others: [] };
  const store = await openStore({ changes, folder: input.scratch });
  return { files: await offeredFiles(store), others: notes(store) };
}

async function offeredFiles(store: GitStore): Promise<OfferedFile[]> {
  const byPath = new Map(store.changes.map((change) => [change.path, change]));
  const found = new Map<DiffEntry, Buffer>();
  let bytes = 0;
  for await (const { entry, section } of diffSections(store)) {
    bytes += section.length;
    if (bytes > maxBytes) throw tooMuch();
    found.set(entry, Buffer.concat([found.get(entry) ?? Buffer.of(), section]));
  }
  return [...found].map(([entry, section]) => ({
    ...entry,
    id: createHash('sha256').update(section).digest('hex'),
    divisible: isDivisible(entry, section, byPath, store),
    section,
  }));
}

function tooMuch(): Fault {
  return new Fault('exhausted', `more than ${maxBytes / 1024 ** 2} MB of changes to choose from`, {
    hint: 'Name some paths.',
  });
}

function isDivisible(
  { path, from, status }: DiffEntry,
  section: Buffer,
  changes: ReadonlyMap<BytePath, Change>,
  { facts }: GitStore,
): boolean {
  if ((status !== 'M' && status !== 'R') || facts.has(path) || (from !== null && facts.has(from))) return false;
  const sides = [changes.get(path), changes.get(from ?? path)];
  return sides.every((change) => change?.baseKnown) && parseSection(section.toString('latin1')).hunks.length > 0;
}

/** Writes the versions below `input.scratch`, which the caller keeps until they are taken. */
export async function choose(input: ReviewInput, picks: readonly Pick[]): Promise<Chosen> {
  const { changes } = await reviewedChanges(input);
  if (changes.length === 0) throw gone();
  const store = await openStore({ changes, folder: input.scratch });
  const files = new Map((await offeredFiles(store)).map((file) => [file.id, file]));
  const folder = join(input.scratch, 'picked');
  mkdirSync(folder);
  const chosen = new Map<BytePath, Version | null>();
  for (const pick of picks) {
    const file = files.get(pick.id);
    if (file === undefined) throw gone();
    if (file.from !== null) chosen.set(file.from, null);
    const name = String(chosen.size);
    chosen.set(file.path, isWhole(pick) ? null : versionOf(file, pick, store, { root: folder, path: name }));
  }
  for (const path of emptied(changes, chosen)) chosen.set(path, null);
  return chosen;
}

function isWhole({ id, blocks, edits }: Pick): boolean {
  if (blocks === undefined && edits !== undefined)
    throw new Fault('invalid', `pick: the edits of ${id} need its blocks`);
  return blocks === undefined;
}

function gone(): Fault {
  return new Fault('conflict', 'the changes are not those that were shown', { hint: 'Look at the changes again.' });
}

type Place = { readonly root: string; readonly path: string };

function versionOf(file: OfferedFile, pick: Pick, { changes }: GitStore, place: Place): Version {
  if (!file.divisible) throw new Fault('invalid', `pick: ${file.id} can only be taken as a whole`);
  const at = (path: BytePath) => changes.find((change) => change.path === path)!;
  const [own, source] = [at(file.path), at(file.from ?? file.path)];
  const old = readContent(source.beforeContent!, source.path, maxBytes);
  if (old === null) throw gone();
  const text = textOf(old.toString('latin1'), file, pick);
  writeFileSync(join(place.root, place.path), text, { encoding: 'latin1', mode: 0o600 });
  const after = { ...own.after!, mode: (pick.mode ? own.after! : source.before!).mode, sizeBytes: text.length };
  return { after, afterContent: { at: 'tree', ...place } };
}

/** The content comes from the files of the sandbox, and from edits, which replace only lines that were shown. */
function textOf(old: string, { id, section }: OfferedFile, { blocks = [], edits = [] }: Pick): string {
  const parsed = parseSection(section.toString('latin1'));
  const named = [...new Set(blocks), ...edits.flatMap((edit) => edit.blocks)];
  const edited = new Set(named).size === named.length ? editedHunks(parsed, edits) : null;
  const text = edited && withBlocks(old, parsed, new Set(blocks), edited);
  if (text === null) throw new Fault('invalid', `pick: an edited hunk of ${id} does not apply`);
  return text;
}

/** Folders that the agent deleted go with the last of their entries. */
function emptied(changes: readonly Change[], chosen: Chosen): BytePath[] {
  const folders = changes.filter(({ before, after }) => before?.type === 'folder' && after === null);
  const isFolder = new Set(folders.map(({ path }) => path));
  return folders
    .map(({ path }) => path)
    .filter((folder) => {
      const below = changes.filter(({ path }) => path !== folder && isWithin(path, folder) && !isFolder.has(path));
      return below.length > 0 && below.every(({ path }) => chosen.has(path));
    });
}

/** The changes with the chosen versions in place of the agent's. */
export function withChosen(changes: readonly Change[], chosen: Chosen | undefined): readonly Change[] {
  if (chosen === undefined) return changes;
  return changes.map((change) => ({ ...change, ...chosen.get(change.path) }));
}
