/** Whether what an agent has at a path is what its base had there. */
import { within } from '../../lib/anchor.ts';
import type { BytePath } from '../../model/byte-path.ts';
import type { Content, Entry } from '../../model/change.ts';
import { folderBelow, hashOf, openContent, openRegular, type Part, sameBytes, using } from '../tree/content.ts';
import { entryAt, look } from '../tree/tree.ts';
import type { Spot } from '../tree/walk.ts';
import type { WorkspacePlace } from '../workspace.ts';
import { type BaseLog, type BaseRecord, contentInLog, type Identity, identityOf, isSame } from './base-log.ts';

export interface Base {
  readonly entry: Entry | null;
  readonly content: Content | null;
  readonly known: boolean;
  /** Of a file's content, where it is known. */
  readonly sha256: string | null;
}

/** As the base's tree has it now. Undefined: it is changing right now. */
export function baseInTree(place: WorkspacePlace, { before, beforeIn, name }: Spot, known: boolean): Base | undefined {
  if (before === null || beforeIn === null) return { entry: null, content: null, known, sha256: null };
  const entry = entryAt(beforeIn, name, before);
  if (entry === null) return undefined;
  const content: Content | null = entry.type === 'file' ? { at: 'tree', root: place.base } : null;
  return { entry, content, known, sha256: null };
}

/** As it was kept. */
export function baseInLog(place: WorkspacePlace, log: BaseLog, path: BytePath, record: BaseRecord): Base {
  const { entry, sha256 } = record;
  if (entry?.type !== 'file') return { entry, content: null, known: true, sha256 };
  const content = contentInLog(log.file, record) ?? contentInProject(place, path, record);
  return { entry, content, known: true, sha256 };
}

function contentInProject(place: WorkspacePlace, path: BytePath, { identity, sha256 }: BaseRecord): Content {
  const now = identity && projectIdentity(place, path);
  if (identity && now && isSame(identity, now)) return { at: 'tree', root: place.project };
  return sha256 === null ? { at: 'lost' } : { at: 'lost', sha256 };
}

export function projectIdentity({ project }: WorkspacePlace, path: BytePath): Identity | null {
  const names = path.split('/');
  const last = names.pop()!;
  const folder = folderBelow(project, names);
  const stat = folder && within(folder, () => look(folder, last));
  return stat && identityOf(stat);
}

export function isEqual(place: WorkspacePlace, spot: Spot, after: Entry | null, base: Base): boolean {
  const before = base.entry;
  if (after === null || before === null) return after === before;
  if (after.type !== before.type || after.mode !== before.mode || after.target !== before.target) return false;
  if (after.type !== 'file') return true;
  return after.sizeBytes === before.sizeBytes && hasContent(place, spot, base);
}

function hasContent(place: WorkspacePlace, spot: Spot, base: Base): boolean {
  const own = spot.afterIn && openRegular(spot.afterIn, spot.afterName ?? spot.name);
  const same = using(own, (mine) => {
    if (base.sha256 !== null) return hashOf(mine).sha256 === base.sha256;
    return using(openBase(place, spot, base.content!), (theirs) => sameBytes(mine, theirs));
  });
  return same ?? false;
}

function openBase(place: WorkspacePlace, spot: Spot, content: Content): Part | null {
  const besides = content.at === 'tree' && content.root === place.base && spot.beforeIn !== null;
  return besides ? openRegular(spot.beforeIn!, spot.name) : openContent(content, spot.path);
}
