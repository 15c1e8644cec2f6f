/** The freezer of control groups: it stops all processes of a group, whatever they do and however fast they fork. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readIfThere } from '../../../../lib/file/file.ts';
import { type Cgroups, mountPoint } from '../cgroup.ts';

export interface Freezer {
  /** The file and the values that freeze and thaw. */
  readonly file: string;
  readonly frozen: string;
  readonly thawed: string;
  /** The file in which the kernel reports that all processes are frozen. */
  readonly state: string;
  readonly reached: RegExp;
}

/** Null: the sandbox has no group, or groups have no freezer. */
export function freezerOf({ parent, version }: Cgroups, id: string): Freezer | null {
  if (parent === null) return null;
  const freezer =
    version === 2 ? unified(join(mountPoint, parent, id)) : single(join(mountPoint, 'freezer', parent, id));
  return existsSync(freezer.file) ? freezer : null;
}

function single(folder: string): Freezer {
  const file = join(folder, 'freezer.state');
  return { file, frozen: 'FROZEN', thawed: 'THAWED', state: file, reached: /^FROZEN$/m };
}

function unified(folder: string): Freezer {
  const [file, state] = ['cgroup.freeze', 'cgroup.events'].map((name) => join(folder, name)) as [string, string];
  return { file, frozen: '1', thawed: '0', state, reached: /^frozen 1$/m };
}

/** Whether freezing was requested, by this daemon or from outside. It may not be complete yet. */
export function isFrozen({ file, thawed }: Freezer): boolean {
  const state = readIfThere(file)?.trim() ?? thawed;
  return state !== thawed;
}

/** In version 1 freezing can hang when a process forks meanwhile, until the group is thawed and frozen again. */
const triesBeforeThaw = 50;

/** False when not all processes were frozen in time; the group is then thawed. */
export async function freeze(freezer: Freezer, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  for (let tries = 1; Date.now() < deadline; tries += 1) {
    writeFileSync(freezer.file, freezer.frozen);
    if (freezer.reached.test(readFileSync(freezer.state, 'utf8'))) return true;
    if (tries % triesBeforeThaw === 0) thaw(freezer);
    await sleep(1);
  }
  thaw(freezer);
  return false;
}

export function thaw({ file, thawed }: Freezer): void {
  if (existsSync(file)) writeFileSync(file, thawed);
}
