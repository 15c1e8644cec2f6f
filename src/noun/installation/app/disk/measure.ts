/** What the disk watch measures, and how it stops a sandbox. */

import type { Home } from '../../../../kernel/home/home.ts';
import type { Store } from '../../../../kernel/store/store.ts';
import { diskUsages } from '../../../../lib/file/disk.ts';
import { inboxOf } from '../../../room/model/grant.ts';
import { type Sandbox, withSpec } from '../../../sandbox/model.ts';
import type { Resource } from './growth.ts';

/** What running sandboxes take, by id: their own folders, and the volumes and inboxes that they can write. */
export async function measureRunning(
  { store, home }: { readonly store: Store; readonly home: Pick<Home, 'sandbox' | 'volume'> },
  what: Resource,
): Promise<Map<string, number>> {
  const running = store.list('sandbox').filter(({ value }) => value.status.state === 'running');
  const folders = running.map(({ id, value }) => ({
    id,
    all: [home.sandbox(id), ...volumesOf(value, home), ...inboxesOf(value)],
  }));
  const sizes = await diskUsages([...new Set(folders.flatMap(({ all }) => all))], what);
  return new Map(folders.map(({ id, all }) => [id, all.reduce((sum, one) => sum + (sizes.get(one) ?? 0), 0)]));
}

function volumesOf({ spec }: Sandbox, home: Pick<Home, 'volume'>): string[] {
  return (spec.volumes ?? []).filter(({ readonly }) => !readonly).map(({ name }) => home.volume(name));
}

/** Inboxes count because hidden and unfinished files stay in them, limited only by the disk. */
function inboxesOf({ name, spec }: Sandbox): string[] {
  return (spec.rooms ?? []).filter(({ readonly }) => !readonly).map(({ folder }) => inboxOf(folder, name));
}

/** Stops the sandbox without a grace period, in which it would go on writing. */
export function stopForDisk(store: Store, id: string, reason: string, at: string): void {
  const row = store.get('sandbox', id);
  if (row === null || row.value.spec.desired !== 'running') return;
  const event = { at, type: 'sandbox.disk_full', subject: id, data: { name: row.name, user: row.owner, reason } };
  store.update(row, withSpec(row.value, { desired: 'stopped', graceMs: 0, stopReason: reason }), event);
}
