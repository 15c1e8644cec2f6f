/**
 * Changed paths that git ignores, such as installed packages and build results: a review sums them up in one line, and an apply
 * leaves them out. The rules are those of the project's repository and of `.gitignore` files that the agent wrote. What they hide
 * is never applied either, so an agent can hide nothing that reaches the project. Tracked files are never ignored.
 */
import type { BytePath } from '../../model/byte-path.ts';
import type { Changes, Skipped } from './change/change.ts';
import { checkIgnore, foldersAbove, maxRulesBytes } from './git/check-ignore.ts';
import { rulesIn } from './git/ignore-rules.ts';
import { gitIn } from './git/project-git.ts';
import type { Change } from './model/change.ts';
import { readContent } from './tree/content.ts';

export interface Ignored {
  /** Files, links and others, not folders. */
  readonly files: number;
  /** True: there are more than were counted. */
  readonly more: boolean;
  /** The topmost ignored paths, those with most files first. */
  readonly places: readonly BytePath[];
}

export interface Split {
  readonly changes: readonly Change[];
  readonly ignored: Ignored;
}

export const noneIgnored: Ignored = { files: 0, more: false, places: [] };

const maxPlaces = 100;

/** The changes without the folders that were counted: git was asked about these already. */
export function unskipped({ changes, skipped = [] }: Pick<Changes, 'changes' | 'skipped'>): readonly Change[] {
  const paths = new Set(skipped.map(({ path }) => path));
  return paths.size === 0 ? changes : changes.filter(({ path }) => !paths.has(path));
}

export async function ignoredPaths(project: string, changes: readonly Change[]): Promise<ReadonlySet<BytePath>> {
  const git = changes.length === 0 ? null : gitIn(project);
  if (git === null) return new Set();
  const names = new Set(changes.flatMap((change) => [...foldersAbove(change.path), nameOf(change)]));
  const ignored = await checkIgnore(git, [...names], changes.flatMap(rulesOf));
  return new Set([...ignored].map((name) => name.replace(/\/$/, '')));
}

/** `skipped`: folders that were counted instead of listed. */
export function split(
  changes: readonly Change[],
  ignored: ReadonlySet<BytePath>,
  skipped: readonly Skipped[] = [],
): Split {
  if (ignored.size === 0 && skipped.length === 0) return { changes, ignored: noneIgnored };
  const out = new Set([...ignored, ...skipped.map(({ path }) => path)]);
  const left = changes.filter(({ path }) => out.has(path));
  return { changes: changes.filter(({ path }) => !out.has(path)), ignored: summed(left, out, skipped) };
}

/** Adds up the ignored paths of several sandboxes. */
export function mergeIgnored(all: readonly Ignored[]): Ignored {
  const places = [...new Set(all.flatMap((one) => one.places))];
  const files = all.reduce((sum, one) => sum + one.files, 0);
  return { files, more: all.some(({ more }) => more), places: places.slice(0, maxPlaces) };
}

/** A slash at its end says that it is a folder: rules such as `build/` are for folders alone. */
function nameOf({ path, before, after }: Change): BytePath {
  return (after ?? before)?.type === 'folder' ? `${path}/` : path;
}

/** The rules of a `.gitignore` that the agent wrote. */
function rulesOf({ path, after, afterContent }: Change): string[] {
  if (!/(^|\/)\.gitignore$/.test(path) || after?.type !== 'file' || afterContent === null) return [];
  const text = readContent(afterContent, path, maxRulesBytes);
  if (text === null) return [];
  return rulesIn(path.slice(0, -'.gitignore'.length), text);
}

function summed(left: readonly Change[], ignored: ReadonlySet<BytePath>, skipped: readonly Skipped[]): Ignored {
  const counts = new Map(skipped.map((one) => [`${one.path}/`, one.files]));
  let files = skipped.reduce((sum, one) => sum + one.files, 0);
  for (const { path, before, after } of left) {
    if ((after ?? before)?.type === 'folder') continue;
    files += 1;
    const top = foldersAbove(path).find((folder) => ignored.has(folder.slice(0, -1))) ?? path;
    counts.set(top, (counts.get(top) ?? 0) + 1);
  }
  const places = [...counts].sort(([, one], [, other]) => other - one).map(([path]) => path);
  return { files, more: skipped.some(({ more }) => more), places: places.slice(0, maxPlaces) };
}
