/** Random changes, from a seed that a failure names: CARREL_TEST_SEED repeats it. */
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import { fromBytes } from '../../../src/model/byte-path.ts';
import { listChanges } from '../../../src/noun/workspace/change/changes.ts';
import { changedAlike, type WorkspaceKindUnderTest } from '../workspace.ts';
import type { Tree } from './cases.ts';
import { shown } from './oracle.ts';

const rounds = 10;
const steps = 60;

export function fuzzCases(kind: WorkspaceKindUnderTest): void {
  describe('lists the paths that random changes changed', () => {
    const first = Number(process.env.CARREL_TEST_SEED ?? Date.now() % 1_000_000);
    for (let seed = first; seed < first + rounds; seed += 1) {
      it(`seed ${seed}`, () => {
        const fill = randomness(seed);
        const workspace = kind.open((base) => {
          for (let step = 0; step < steps; step += 1) change(base, fill);
        });
        const expected = changedAlike(kind, workspace, (tree) => {
          const random = randomness(seed + 0.5);
          for (let step = 0; step < steps; step += 1) change(tree, random);
        });
        expect(shown(listChanges(workspace.place).changes)).toEqual(expected);
        expect(expected.length).toBeGreaterThan(0);
      });
    }
  });
}

type Random = (below: number) => number;

/** mulberry32 */
function randomness(seed: number): Random {
  let state = Math.floor(seed * 2_654_435_761) >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** One random step, chosen by the entries of the tree, which are the same in every tree that gets these steps. */
function change(tree: Tree, random: Random): void {
  const paths = pathsIn(tree);
  const folders = ['', ...paths.filter((path) => lstatSync(tree(path)).isDirectory())];
  const folder = folders[random(folders.length)]!;
  const path = `${folder === '' ? '' : `${folder}/`}${'abcd\xff'[random(5)]}`;
  const other = paths.length === 0 ? null : paths[random(paths.length)]!;
  const action = random(8);
  const content = 'xy'[random(2)]!.repeat(random(3));
  if (action === 0 && other !== null) rmSync(tree(other), { recursive: true });
  else if (action === 1 && other !== null) moveAside(tree, other, path);
  else if (action === 7 && other !== null) linkTo(tree, other, path);
  else if (action === 2 && other !== null) changeMode(tree, other, [0o700, 0o755][random(2)]!);
  else replace(tree, path, ['file', 'file', 'folder', 'link'][action - 3] ?? 'file', content);
}

function pathsIn(tree: Tree, folder = ''): string[] {
  return readdirSync(tree(folder), { encoding: 'buffer' })
    .map((name) => `${folder === '' ? '' : `${folder}/`}${fromBytes(name)}`)
    .sort()
    .flatMap((path) => [path, ...(lstatSync(tree(path)).isDirectory() ? pathsIn(tree, path) : [])]);
}

/** The kernel refuses some renames of folders on an overlay, so folders are renamed in no tree. */
function moveAside(tree: Tree, from: string, to: string): void {
  const [one, other] = [lstatSync(tree(from)), lstatSync(tree(to), { throwIfNoEntry: false })];
  if (one.isDirectory() || other?.isDirectory()) return;
  try {
    renameSync(tree(from), tree(to));
  } catch (error) {
    // A rename between two hard links of a file does nothing. An overlay without an index fails with ESTALE instead.
    if ((error as NodeJS.ErrnoException).errno !== -constants.errno.ESTALE) throw error;
  }
}

function linkTo(tree: Tree, from: string, to: string): void {
  const [one, other] = [lstatSync(tree(from)), lstatSync(tree(to), { throwIfNoEntry: false })];
  if (!one.isFile() || other?.isDirectory() || from === to) return;
  rmSync(tree(to), { force: true });
  if (lstatSync(tree(from), { throwIfNoEntry: false })) linkSync(tree(from), tree(to));
}

function changeMode(tree: Tree, path: string, mode: number): void {
  if (!lstatSync(tree(path)).isSymbolicLink()) chmodSync(tree(path), mode);
}

function replace(tree: Tree, path: string, type: string, content: string): void {
  if (type !== 'file' || !lstatSync(tree(path), { throwIfNoEntry: false })?.isFile()) {
    rmSync(tree(path), { recursive: true, force: true });
  }
  if (type === 'file') writeFileSync(tree(path), content);
  else if (type === 'folder') mkdirSync(tree(path));
  else symlinkSync(`to-${content}`, tree(path));
}
