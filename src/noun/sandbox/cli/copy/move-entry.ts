/**
 * Moves a copy from a private folder to its destination: checks it, then renames it. It never writes through a link.
 */
import { renameSync, rmSync } from 'node:fs';
import { Anchor, type Name, within } from '../../../../lib/file/anchor.ts';
import { Fault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';

const specialBits = 0o7000;
const ownerBits = 0o700;

type Move = (from: Anchor, name: Name, to: Anchor, as: Name) => void;

const rename: Move = (from, name, to, as) => renameSync(from.at(name), to.at(as));
const nothing: Move = () => {};

/**
 * Refuses devices, sockets and pipes, and clears set-user-id and similar bits. Gives the owner access to folders, which
 * could otherwise be neither moved nor removed.
 */
export function sanitizeTree(folder: Anchor): void {
  unlock(folder, (parent, name) => {
    const stat = parent.look(name);
    if (!stat || stat.isSymbolicLink()) return;
    if (!stat.isFile()) throw oddEntry(name);
    if (stat.mode & specialBits) parent.chmod(name, stat.mode & 0o777);
  });
}

/** Moves an entry; a folder is merged into an existing one. All conflicts are found before the first move. */
export function moveEntryInto(from: Anchor, name: Name, to: Anchor, as: Name): void {
  merge(from, name, to, as, nothing);
  merge(from, name, to, as, rename);
}

/** Moves every entry of a folder, as `moveEntryInto` does. */
export function moveContentsInto(from: Anchor, to: Anchor): void {
  for (const move of [nothing, rename]) {
    for (const name of from.names()) merge(from, name, to, name, move);
  }
}

/** Removes a folder that this command made, with all content. */
export function discard(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    within(Anchor.open(path), (folder) => unlock(folder, () => {}));
    rmSync(path, { recursive: true, force: true });
  }
}

function unlock(folder: Anchor, leaf: (parent: Anchor, name: Name) => void): void {
  for (const name of folder.names()) {
    const stat = folder.look(name);
    if (!stat?.isDirectory()) {
      leaf(folder, name);
      continue;
    }
    folder.chmod(name, (stat.mode & 0o777) | ownerBits);
    within(folder.enter(name), (inner) => unlock(inner, leaf));
  }
}

function merge(from: Anchor, name: Name, to: Anchor, as: Name, move: Move): void {
  const isFolder = from.look(name)?.isDirectory() === true;
  const there = to.look(as);
  if (there && there.isDirectory() !== isFolder) throw mismatch(as, isFolder);
  if (!there || !isFolder) move(from, name, to, as);
  else {
    within(from.enter(name), (source) =>
      within(to.enter(as), (target) => {
        for (const child of source.names()) merge(source, child, target, child, move);
      }),
    );
  }
}

function oddEntry(name: Name): Fault {
  return new Fault(
    'denied',
    `${printable(name.toString())} is neither a file, a folder nor a link, and is not copied`,
    {
      hint: 'Nothing was copied. Copy the files around it one by one.',
    },
  );
}

function mismatch(name: Name, isFolder: boolean): Fault {
  const shown = printable(name.toString());
  return isFolder
    ? new Fault('conflict', `${shown} is there already and is not a folder`)
    : new Fault('conflict', `${shown} is there already and is a folder`);
}
