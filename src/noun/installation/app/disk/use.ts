/** Measures where the disk space of a home goes. */
import { existsSync, readdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from '../../../../kernel/home/home.ts';
import type { Store } from '../../../../kernel/store/store.ts';
import { diskUsages } from '../../../../lib/file/disk.ts';
import type { DiskView } from '../../api/disk.ts';
import { type SpaceKind, spaceKindOf, spaceKinds } from '../../model.ts';

type Use = DiskView['uses'][number];

export async function diskUse(home: Home, store: Pick<Store, 'list'>): Promise<DiskView> {
  const sandboxes = store.list('sandbox').map(({ id, name }) => ({ name, folder: home.sandbox(id) }));
  const [own, snapshots, output, rest, volumes] = await Promise.all([
    diskUsages(present(sandboxes.map(({ folder }) => folder)), 'bytes'),
    diskUsages(present(sandboxes.map(({ folder }) => join(folder, 'snapshots'))), 'bytes'),
    diskUsages(present(sandboxes.map(({ folder }) => join(folder, 'output'))), 'bytes'),
    diskUsages(topLevel(home.home), 'bytes'),
    diskUsages(entries(home.volumes), 'bytes'),
  ]);
  const uses: Use[] = sandboxes.flatMap(({ name, folder }) => {
    const [kept, logs] = [snapshots.get(join(folder, 'snapshots')) ?? 0, output.get(join(folder, 'output')) ?? 0];
    const workspace = Math.max(0, (own.get(folder) ?? 0) - kept - logs);
    return [use('workspaces', name, workspace), use('snapshots', name, kept), use('logs', name, logs)];
  });
  const named = [...volumes].map(([path, bytes]) => use('volumes', nameOf(path), bytes));
  const others = [...rest].map(([path, bytes]) => use(spaceKindOf(nameOf(path)), nameOf(path), bytes));
  const { bavail, bsize } = statfsSync(home.home);
  return {
    home: home.home,
    freeBytes: bavail * bsize,
    uses: [...uses, ...named, ...others].filter(isThere).sort(byKind),
  };
}

function use(kind: SpaceKind, name: string, sizeBytes: number): Use {
  return { kind, name, sizeBytes };
}

function isThere({ sizeBytes }: Use): boolean {
  return sizeBytes > 0;
}

function byKind(one: Use, other: Use): number {
  return spaceKinds.indexOf(one.kind) - spaceKinds.indexOf(other.kind) || other.sizeBytes - one.sizeBytes;
}

/** The entries of the home without sandboxes and volumes, which are measured one by one. */
function topLevel(home: string): string[] {
  return entries(home).filter((path) => !['sandboxes', 'volumes'].includes(nameOf(path)));
}

function entries(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}

function present(folders: readonly string[]): string[] {
  return folders.filter((folder) => existsSync(folder));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
