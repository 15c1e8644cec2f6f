/**
 * What to do about one change, from three sides: the base it was made on, the agent's version (theirs) and what the
 * project has now (ours). A pure decision; who asks reads the files.
 *
 * Rules beyond the plain three-way ones:
 * - A folder that both have is the same folder. One that the agent deleted goes once it is empty, so that what the owner
 *   put there keeps it.
 * - Permissions are merged apart from content. Where both sides changed them, those of the project stay as long as both
 *   agree on who may execute.
 * - FIFOs, sockets and devices mean something to running programs only. They are never taken and never replaced: such a
 *   change is left, and stands in nobody's way.
 */
import type { Entry } from '../../model/change.ts';

/** Whether two sides have the same bytes. Asked only about files of one size. */
export interface Sameness {
  oursIsBase(): boolean;
  oursIsTheirs(): boolean;
  theirsIsBase(): boolean;
}

export interface Sides {
  readonly base: Entry | null;
  readonly theirs: Entry | null;
  readonly ours: Entry | null;
  readonly baseKnown: boolean;
}

export type Decision =
  | { readonly verdict: 'take' | 'same' | 'left' }
  /** Files on all sides; `content` says whose bytes, or that they have to be merged. */
  | { readonly verdict: 'merge'; readonly content: 'ours' | 'theirs' | 'both'; readonly mode: number }
  /** `markers`: both sides are files, so that the difference can be written into one. */
  | { readonly verdict: 'conflict'; readonly reason: string; readonly markers: boolean };

const take: Decision = { verdict: 'take' };
const same: Decision = { verdict: 'same' };

export function decide(sides: Sides, contents: Sameness): Decision {
  const { base, theirs, ours, baseKnown } = sides;
  if (isSpecial(theirs) || isSpecial(ours)) return { verdict: 'left' };
  if (theirs === null && base === null) return same;
  if (isFolder(ours) && isFolder(theirs)) return baseKnown ? folderMode(base, theirs!, ours!) : same;
  if (isEqual(ours, theirs, () => contents.oursIsTheirs())) return same;
  if (!baseKnown) return conflict(unknownBase);
  // A folder is what is in it: where it was, or is, one, nothing of its own was there.
  if (!isFolder(theirs) && !isFolder(ours) && isFolder(base)) return decide({ ...sides, base: null }, contents);
  if (isFolder(ours) && theirs === null && !isFolder(base)) return same;
  if (isFolder(theirs) && ours === null && !isFolder(base)) return take;
  if (isFolder(base) && isFolder(ours) && theirs === null) return take;
  if (isEqual(ours, base, () => contents.oursIsBase())) return take;
  // Only its permissions were changed, and it is gone.
  if (isFolder(base) && isFolder(theirs) && ours === null) return same;
  if (isFile(ours) && isFile(theirs) && base === null) return bothAdded(theirs!, ours!, contents);
  if (isFile(ours) && isFile(theirs) && isFile(base)) return files(base!, theirs!, ours!, contents);
  return conflict(reasonOf(sides));
}

const unknownBase =
  "the project changed it before the agent's change was recorded, so what the agent changed it from is not known";

function conflict(reason: string, markers = false): Decision {
  return { verdict: 'conflict', reason, markers };
}

function folderMode(base: Entry | null, theirs: Entry, ours: Entry): Decision {
  if (!isFolder(base) || theirs.mode === base!.mode || theirs.mode === ours.mode) return same;
  return ours.mode === base!.mode ? take : same;
}

function bothAdded(theirs: Entry, ours: Entry, contents: Sameness): Decision {
  if (theirs.sizeBytes !== ours.sizeBytes || !contents.oursIsTheirs()) return conflict('both added it', true);
  return mergeModes(null, theirs.mode, ours.mode) === null ? conflict(bothModes) : same;
}

const bothModes = 'both changed who may execute it';

function files(base: Entry, theirs: Entry, ours: Entry, contents: Sameness): Decision {
  const mode = mergeModes(base.mode, theirs.mode, ours.mode);
  if (mode === null) return conflict(bothModes);
  const content = whoseContent(base, theirs, ours, contents);
  return content === 'ours' && mode === ours.mode ? same : { verdict: 'merge', content, mode };
}

function whoseContent(base: Entry, theirs: Entry, ours: Entry, contents: Sameness): 'ours' | 'theirs' | 'both' {
  if (theirs.sizeBytes === base.sizeBytes && contents.theirsIsBase()) return 'ours';
  if (ours.sizeBytes === base.sizeBytes && contents.oursIsBase()) return 'theirs';
  return ours.sizeBytes === theirs.sizeBytes && contents.oursIsTheirs() ? 'ours' : 'both';
}

/** Null: both changed them, and differently about who may execute. */
export function mergeModes(base: number | null, theirs: number, ours: number): number | null {
  if (theirs === base) return ours;
  if (ours === base) return theirs;
  return (theirs & 0o111) === (ours & 0o111) ? ours : null;
}

function reasonOf({ base, theirs, ours }: Sides): string {
  if (theirs === null) return 'the agent deleted it, the project changed it';
  if (ours === null) return 'the agent changed it, the project deleted it';
  if (base === null) return `the agent added a ${theirs.type}, the project a ${ours.type}`;
  if (theirs.type === 'link' && ours.type === 'link') return 'both changed where the link points';
  return `it was a ${base.type}, is a ${theirs.type} with the agent and a ${ours.type} in the project`;
}

/** Equal in everything that an agent can change. */
function isEqual(one: Entry | null, other: Entry | null, sameContent: () => boolean): boolean {
  if (one === null || other === null) return one === other;
  if (one.type !== other.type || one.mode !== other.mode || one.target !== other.target) return false;
  return one.type !== 'file' || (one.sizeBytes === other.sizeBytes && sameContent());
}

function isFolder(entry: Entry | null): boolean {
  return entry?.type === 'folder';
}

function isFile(entry: Entry | null): boolean {
  return entry?.type === 'file';
}

function isSpecial(entry: Entry | null): boolean {
  return entry !== null && !['file', 'folder', 'link'].includes(entry.type);
}
