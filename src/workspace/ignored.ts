/**
 * Changed paths that git ignores, such as installed packages and build results: a review sums them up in one line, and an apply
 * leaves them out. The rules are those of the project's repository and of `.gitignore` files that the agent wrote. What they hide
 * is never applied either, so an agent can hide nothing that reaches the project. Tracked files are never ignored.
 */
import type { BytePath } from '../model/byte-path.ts';
import type { Change } from '../model/change.ts';
import { checkIgnore, foldersAbove, maxRulesBytes } from './git/check-ignore.ts';
import { openProjectGit } from './git/project-git.ts';
import { readContent } from './tree/content.ts';

export interface Ignored {
  /** Files, links and others, not folders. */
  readonly files: number;
  /** The topmost ignored paths, those with most files first. */
  readonly places: readonly BytePath[];
}

export interface Split {
  readonly changes: readonly Change[];
  readonly ignored: Ignored;
}

export const noneIgnored: Ignored = { files: 0, places: [] };

const maxPlaces = 100;

export async function ignoredPaths(project: string, changes: readonly Change[]): Promise<ReadonlySet<BytePath>> {
  const git = changes.length === 0 ? null : await openProjectGit(project);
  if (git === null) return new Set();
  const asked = new Set(changes.flatMap((change) => [...foldersAbove(change.path), nameOf(change)]));
  const ignored = await checkIgnore(git, [...asked], changes.flatMap(rulesOf));
  return new Set([...ignored].map((name) => name.replace(/\/$/, '')));
}

export function split(changes: readonly Change[], ignored: ReadonlySet<BytePath>): Split {
  if (ignored.size === 0) return { changes, ignored: noneIgnored };
  const left = changes.filter(({ path }) => ignored.has(path));
  return { changes: changes.filter(({ path }) => !ignored.has(path)), ignored: summed(left, ignored) };
}

/** Of several sandboxes. */
export function together(all: readonly Ignored[]): Ignored {
  const places = [...new Set(all.flatMap((one) => one.places))];
  return { files: all.reduce((sum, { files }) => sum + files, 0), places: places.slice(0, maxPlaces) };
}

/** A slash at its end says that it is a folder: rules such as `build/` are for folders alone. */
function nameOf({ path, before, after }: Change): BytePath {
  return (after ?? before)?.type === 'folder' ? `${path}/` : path;
}

/** The lines of a `.gitignore` that the agent wrote, as they would stand at the top. */
function rulesOf({ path, after, afterContent }: Change): string[] {
  if (!/(^|\/)\.gitignore$/.test(path) || after?.type !== 'file' || afterContent === null) return [];
  const text = readContent(afterContent, path, maxRulesBytes);
  if (text === null) return [];
  const folder = path.slice(0, -'.gitignore'.length);
  return Buffer.from(text)
    .toString('latin1')
    .split('\n')
    .flatMap((line) => ruleAt(folder, line));
}

function ruleAt(folder: BytePath, line: string): string[] {
  const [, negation = '', rule = ''] = /^(!?)(.*?)\r?$/.exec(line) ?? [];
  if (rule.trim() === '' || (negation === '' && rule.startsWith('#'))) return [];
  if (folder === '') return [`${negation}${rule}`];
  const place = folder.replace(/[*?[\\]/g, '\\$&');
  const isAnchored = rule.slice(0, -1).includes('/');
  return [`${negation}/${place}${isAnchored ? rule.replace(/^\//, '') : `**/${rule}`}`];
}

function summed(left: readonly Change[], ignored: ReadonlySet<BytePath>): Ignored {
  const counts = new Map<BytePath, number>();
  let files = 0;
  for (const { path, before, after } of left) {
    if ((after ?? before)?.type === 'folder') continue;
    files += 1;
    const top = foldersAbove(path).find((folder) => ignored.has(folder.slice(0, -1))) ?? path;
    counts.set(top, (counts.get(top) ?? 0) + 1);
  }
  const places = [...counts].sort(([, one], [, other]) => other - one).map(([path]) => path);
  return { files, places: places.slice(0, maxPlaces) };
}
