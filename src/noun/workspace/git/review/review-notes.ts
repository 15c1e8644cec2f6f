/** Lines in the style of git about what its unified diff cannot show. */
import type { BytePath } from '../../../../model/byte-path.ts';
import { type Change, type Entry, ignoredText } from '../../model/change.ts';
import { foldersAbove } from '../../tree/folders.ts';
import { quoteName } from '../git.ts';
import type { ChangeFacts } from './git-store.ts';
import type { Fact } from './stored-content.ts';

export interface Notable {
  readonly changes: readonly Change[];
  readonly missing: ReadonlySet<BytePath>;
}

/** What a review does not show. */
export interface LeftOut {
  readonly hiddenInGit: number;
  readonly ignored: { readonly files: number; readonly more: boolean; readonly places: readonly BytePath[] };
}

/** The modes that the usual umasks give; any other is noted. */
const usualModes: readonly number[] = [0o644, 0o755, 0o664, 0o775];

export function notes({ changes, missing }: Notable): string[] {
  const implied = { before: parents(changes, 'before'), after: parents(changes, 'after') };
  return changes.flatMap((change) => {
    const name = quoteName(change.path);
    return [
      ...existence(change, implied).map((words) => `${words} ${name}`),
      ...modeWords(change).map((words) => `${words} ${name}`),
      ...(missing.has(change.path) ? [`not shown ${name}: it changed while it was read`] : []),
      ...(change.baseKnown ? [] : [`base unknown ${name}: compared with what the project has now`]),
    ];
  });
}

export function leftOut({ hiddenInGit, ignored }: LeftOut): string[] {
  const { files, more, places } = ignored;
  const text = () => ignoredText(ignored, places.map(quoteName));
  const lines = files === 0 && !more ? [] : [`${text()}, not shown without --ignored`];
  if (hiddenInGit === 1) lines.push('1 path inside .git differs and is not shown');
  if (hiddenInGit > 1) lines.push(`${hiddenInGit} paths inside .git differ and are not shown`);
  return lines;
}

/** Every folder with a listed entry. */
function parents(changes: readonly Change[], side: 'before' | 'after'): Set<BytePath> {
  return foldersAbove(changes.filter((change) => change[side] !== null).map(({ path }) => path));
}

type Implied = { readonly before: ReadonlySet<BytePath>; readonly after: ReadonlySet<BytePath> };

function existence({ path, before, after }: Change, implied: Implied): string[] {
  if (before?.type === after?.type) return [];
  if (before !== null && after !== null)
    return inGit(before) && inGit(after) ? [] : [`type change ${before.type} => ${after.type}`];
  const [entry, verb, side] =
    after === null ? [before!, 'delete', 'before' as const] : [after, 'create', 'after' as const];
  if (inGit(entry) || (entry.type === 'folder' && implied[side].has(path))) return [];
  return [`${verb} ${entry.type}`];
}

function inGit({ type }: Entry): boolean {
  return type === 'file' || type === 'link';
}

function modeWords({ before, after }: Change): string[] {
  if (after === null || after.type === 'link') return [];
  if (before === null || before.type !== after.type)
    return usualModes.includes(after.mode) ? [] : [`create mode ${octal(after.mode)}`];
  if (before.mode === after.mode || (after.type === 'file' && gitShowsMode(before.mode, after.mode))) return [];
  return [`mode change ${octal(before.mode)} => ${octal(after.mode)}`];
}

/** Git stores one bit, the owner's x; the other two usually follow it. */
function gitShowsMode(before: number, after: number): boolean {
  const differs = before ^ after;
  return (differs & 0o100) !== 0 && (differs & ~0o111) === 0;
}

export function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}

/** For a file that is not shown: its size and hash before and after. */
export function factLine(name: BytePath, { before, after }: ChangeFacts): string {
  const sides = [before, after].filter((fact) => fact !== null);
  const verb = before === null ? 'added' : after === null ? 'deleted' : 'changed';
  return `${kindOf(sides)} file ${quoteName(name)} ${verb}: ${sides.map(sizeAndHash).join(' → ')}`;
}

function kindOf(sides: readonly Fact[]): string {
  const kinds = sides.map(({ kind }) => kind);
  if (kinds.includes('large')) return 'Large';
  return kinds.includes('binary') ? 'Binary' : 'Unreadable';
}

function sizeAndHash({ sizeBytes, sha256 }: Fact): string {
  if (sha256 === null) return `${sizeBytes} B (no longer there)`;
  return `${sizeBytes} B ${sha256.startsWith('sparse:') ? sha256 : `sha256:${sha256}`}`;
}
