/** Compares the agent's version of a path with its base. */

import { within } from '../../../lib/file/anchor.ts';
import type { BytePath } from '../../../model/byte-path.ts';
import type { Content, Entry, FileIdentity } from '../model/change.ts';
import { type FilePart, folderBelow, hashOf, openContent, openRegular, sameBytes, using } from '../tree/content.ts';
import { entryAt, look } from '../tree/tree.ts';
import type { WalkedPath } from '../tree/walk.ts';
import type { WorkspacePlace } from '../workspace.ts';
import { contentInLog, identityOf, isSame } from './base/base-log.ts';
import type { Base, BaseLog, BaseRecord } from './change.ts';

/** The base as its tree has it now. Undefined: the path is being changed right now. */
export function baseInTree(
  place: WorkspacePlace,
  { before, beforeIn, name }: WalkedPath,
  known: boolean,
): Base | undefined {
  if (before === null || beforeIn === null) return { ...noBase, known };
  const entry = entryAt(beforeIn, name, before);
  if (entry === null) return undefined;
  const content: Content | null = entry.type === 'file' ? { at: 'tree', root: place.base } : null;
  return { entry, content, known, sha256: null, identity: content && place.live ? identityOf(before) : null };
}

export const noBase = { entry: null, content: null, sha256: null, identity: null } as const;

/** The base as the log records it. */
export function baseInLog(place: WorkspacePlace, log: BaseLog, path: BytePath, record: BaseRecord): Base {
  const { entry, sha256, identity } = record;
  if (entry?.type !== 'file') return { entry, content: null, known: true, sha256, identity: null };
  const content = contentInLog(log.file, record) ?? contentInProject(place, path, record);
  return { entry, content, known: true, sha256, identity };
}

function contentInProject(place: WorkspacePlace, path: BytePath, { identity, sha256 }: BaseRecord): Content {
  const now = identity && projectIdentity(place, path);
  if (identity && now && isSame(identity, now)) return { at: 'tree', root: place.project };
  return sha256 === null ? { at: 'lost' } : { at: 'lost', sha256 };
}

export function projectIdentity({ project }: WorkspacePlace, path: BytePath): FileIdentity | null {
  const names = path.split('/');
  const last = names.pop()!;
  const folder = folderBelow(project, names);
  const stat = folder && within(folder, () => look(folder, last));
  return stat && identityOf(stat);
}

export function isEqual(place: WorkspacePlace, walked: WalkedPath, after: Entry | null, base: Base): boolean {
  const before = base.entry;
  if (after === null || before === null) return after === before;
  if (after.type !== before.type || after.mode !== before.mode || after.target !== before.target) return false;
  if (after.type !== 'file') return true;
  return after.sizeBytes === before.sizeBytes && hasContent(place, walked, base);
}

function hasContent(place: WorkspacePlace, walked: WalkedPath, base: Base): boolean {
  const own = walked.afterIn && openRegular(walked.afterIn, walked.afterName ?? walked.name);
  const same = using(own, (mine) => {
    if (base.sha256 !== null) return hashOf(mine).sha256 === base.sha256;
    return using(openBase(place, walked, base.content!), (original) => sameBytes(mine, original));
  });
  return same ?? false;
}

function openBase(place: WorkspacePlace, walked: WalkedPath, content: Content): FilePart | null {
  const besides = content.at === 'tree' && content.root === place.base && walked.beforeIn !== null;
  return besides ? openRegular(walked.beforeIn!, walked.name) : openContent(content, walked.path);
}
