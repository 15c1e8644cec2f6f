/**
 * Folders of the agent that git ignores as a whole, such as `node_modules`. A walk leaves them out, as `git status`
 * does: their files are counted by reading names, up to a limit, and neither opened nor compared. The walk checks only
 * folders that the base does not have and that hold many entries; smaller ones are listed, and sorted out path by path
 * (`ignored.ts`).
 */
import { type Anchor, within } from '../../lib/file/anchor.ts';
import { entryTypes, typedNames } from '../../lib/file/folder-names.ts';
import type { BytePath } from '../../model/byte-path.ts';
import type { Skipped, Skipping } from './change/change.ts';
import { afterRoot } from './change/changes.ts';
import { areTracked, ignoredFolders, maxRulesBytes } from './git/check-ignore.ts';
import { rulesIn } from './git/ignore-rules.ts';
import { gitIn } from './git/project-git.ts';
import { readContent } from './tree/content.ts';
import { foldersAbove } from './tree/folders.ts';
import { enter, look } from './tree/tree.ts';
import type { WalkedPath } from './tree/walk.ts';
import type { WorkspacePlace } from './workspace.ts';

/** The limit for one walk: with more large folders of which git ignores none, listing all is quicker. */
const maxQuestions = 20;

export interface SkipLimits {
  /** The number of entries that are compared in less time than git needs to start. */
  readonly few: number;
  /**
   * The number of files that are counted: counting a whole large folder would take longer than the rest of a review.
   */
  readonly counted: number;
}

const usualLimits: SkipLimits = { few: 500, counted: 1000 };

export class IgnoredFolders implements Skipping {
  readonly found: Skipped[] = [];
  readonly #place: WorkspacePlace;
  #questions = 0;

  readonly #limits: SkipLimits;

  constructor(place: WorkspacePlace, limits = usualLimits) {
    this.#place = place;
    this.#limits = limits;
  }

  skips({ path, name, afterIn }: WalkedPath): boolean {
    const folder = afterIn && this.#questions < maxQuestions ? enter(afterIn, name) : null;
    if (folder === null) return false;
    return within(folder, () => {
      const { few, counted } = this.#limits;
      const { entries, ...count } = countIn(folder, { files: counted, entries: 10 * counted });
      const isLarge = count.more || entries > few;
      if (!isLarge || !this.#isIgnored(path)) return false;
      this.found.push({ path, ...count });
      return true;
    });
  }

  #isIgnored(path: BytePath): boolean {
    const git = gitIn(this.#place.project);
    if (git === null) return false;
    this.#questions += 1;
    const above = [...foldersAbove([path])].reverse();
    return ignoredFolders(git, [...above, path], this.#rules(above)).has(path) && !areTracked(git, path);
  }

  /** The rules of the `.gitignore` files that the agent has at the top and in these folders. */
  #rules(folders: readonly BytePath[]): string[] {
    const root = afterRoot(this.#place);
    return ['', ...folders.map((folder) => `${folder}/`)].flatMap((folder) => {
      const text = readContent({ at: 'tree', root }, `${folder}.gitignore`, maxRulesBytes);
      return text === null ? [] : rulesIn(folder, text);
    });
  }
}

/** Depth is limited, since each folder on the way down stays open. */
const maxDepth = 100;

type Count = Omit<Skipped, 'path'> & { readonly entries: number };

/** Files, and entries of any type; `more`: one of the limits was reached. */
function countIn(folder: Anchor, limit: Omit<Count, 'more'>): Count {
  let [files, seen, more] = [0, 0, false];
  const count = (at: Anchor, depth: number): void => {
    // The number is limited: an agent can make millions in one folder, and their names would take the memory of the
    // thread.
    for (const { name, isFolder } of entriesIn(at, limit.entries - seen + 1)) {
      more ||= seen === limit.entries || depth > maxDepth || (files === limit.files && !isFolder);
      if (more) return;
      seen += 1;
      const below = isFolder ? enter(at, name) : null;
      if (below) within(below, () => count(below, depth + 1));
      else if (!isFolder) files += 1;
    }
  };
  count(folder, 0);
  return { files, more, entries: seen };
}

function entriesIn(folder: Anchor, most: number): { readonly name: BytePath; readonly isFolder: boolean }[] {
  return typedNames(folder.fd, () => true, most).map(({ name, type }) => {
    // Some filesystems do not report the type of an entry.
    const isFolder =
      type === entryTypes.unknown ? (look(folder, name)?.isDirectory() ?? false) : type === entryTypes.folder;
    return { name, isFolder };
  });
}
