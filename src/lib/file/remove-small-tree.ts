/**
 * Removes a small tree without starting a process, which would take longer than the removal. It works by open folders,
 * so that no link in the tree leads elsewhere, and on one filesystem only.
 */
import { lstat, opendir, rmdir, unlink } from 'node:fs/promises';
import { Anchor } from './anchor.ts';

const maxEntries = 200;
const maxDepth = 16;

/** False: the tree is larger or deeper, or something cannot be removed this way; a part may be removed already. */
export async function removeSmallTree(path: string): Promise<boolean> {
  const cut = path.lastIndexOf('/');
  try {
    const parent = Anchor.open(path.slice(0, cut) || '/');
    return await removeEntry(parent, Buffer.from(path.slice(cut + 1)), {
      entries: maxEntries,
      depth: maxDepth,
    }).finally(() => parent.close());
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

interface Budget {
  /** The number of entries that may still be removed in the whole tree. */
  entries: number;
  /** The number of levels that may follow below this entry. */
  readonly depth: number;
}

async function removeEntry(folder: Anchor, name: Buffer, budget: Budget): Promise<boolean> {
  const found = await lstat(folder.at(name));
  if (!found.isDirectory()) {
    await unlink(folder.at(name));
    return true;
  }
  const inner = folder.enter(name);
  try {
    if (!(await removeInside(inner, found.dev, budget))) return false;
  } finally {
    inner.close();
  }
  await rmdir(folder.at(name));
  return true;
}

async function removeInside(folder: Anchor, device: number, budget: Budget): Promise<boolean> {
  const names = await namesIn(folder.path, budget.entries + 1);
  budget.entries -= names.length;
  if (budget.entries < 0 || budget.depth === 0) return names.length === 0;
  for (const name of names) {
    if ((await lstat(folder.at(name))).dev !== device) return false;
    const below = { entries: budget.entries, depth: budget.depth - 1 };
    const isGone = await removeEntry(folder, name, below);
    budget.entries = below.entries;
    if (!isGone) return false;
  }
  return true;
}

/** Reads at most `most` names: reading all names of a huge folder would block the event loop. */
async function namesIn(path: string, most: number): Promise<Buffer[]> {
  const names: Buffer[] = [];
  for await (const { name } of await opendir(path, { encoding: 'buffer' as BufferEncoding })) {
    names.push(name as unknown as Buffer);
    if (names.length >= most) break;
  }
  return names;
}
