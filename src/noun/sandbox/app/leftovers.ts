/** For `carrel doctor`: what is left of sandboxes that have no record. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Engine, ProbeRow } from '../../../kernel/engine/engine.ts';
import { ok, warning } from '../../../kernel/engine/probe-row.ts';
import type { Home } from '../../../kernel/home/home.ts';
import type { Store } from '../../../kernel/store/store.ts';

export interface LeftoverScope {
  readonly local: Pick<Engine, 'list'>;
  readonly store: Store;
  readonly home: Home;
}

/** The engine is asked twice: what is being removed at the moment is gone the second time. */
export async function leftoversRow({ local, store, home }: LeftoverScope): Promise<ProbeRow> {
  const folders = dirname(home.sandbox('id'));
  const unknown = (id: string) => store.get('sandbox', id) === null;
  const things = new Set((await local.list()).filter(unknown));
  const left = readdirSync(folders).filter(unknown);
  const still = (await local.list()).filter((id) => things.has(id));
  return leftBehindRow(
    still,
    left.map((name) => join(folders, name)).filter((path) => existsSync(path)),
  );
}

export function leftBehindRow(things: readonly string[], folders: readonly string[]): ProbeRow {
  if (things.length + folders.length === 0) return ok('leftovers', 'none');
  const engine = things.length > 0 ? [`of the engine: ${things.join(' ')}`] : [];
  const data = folders.length > 0 ? [`folders: ${folders.join(' ')}`] : [];
  return warning(
    'leftovers',
    `without a record: ${[...engine, ...data].join('; ')}`,
    things.length > 0
      ? 'The daemon removes them within a minute; if not, see daemon.log.'
      : `rm -r ${folders.join(' ')}`,
  );
}
