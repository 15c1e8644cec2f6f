/**
 * Compares applies with git merges: an owner and an agent work at random on one project, the agent in a working copy
 * that the kernel mounts. If git merges the three trees, the apply has to give the same tree; if git has a conflict, it
 * has to refuse. It differs on purpose in this only:
 * - Empty folders count: a file of one side and an empty folder of the other are a conflict.
 * - Renames are not followed by either, but `--ours` keeps both ends of a rename or neither.
 * - If no look was taken between the agent and the owner, it may refuse, and never guesses.
 *
 * CARREL_MERGE_CASES sets the number of cases, CARREL_MERGE_SEED the first seed.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { detachMount, mount } from '../../src/lib/sys/sys-mount.ts';
import type { ApplyPlan } from '../../src/noun/workspace/apply/apply.ts';
import { commitApply } from '../../src/noun/workspace/apply/commit/commit.ts';
import { planApply } from '../../src/noun/workspace/apply/plan/plan.ts';
import { undoApply } from '../../src/noun/workspace/apply/undo.ts';
import { keepAndList, keepBases } from '../../src/noun/workspace/change/base/base.ts';
import { listChanges } from '../../src/noun/workspace/change/changes.ts';
import { gateKinds, type Resolution } from '../../src/noun/workspace/model/change.ts';
import type { WorkspacePlace } from '../../src/noun/workspace/workspace.ts';
import { waitForTicks } from '../conformance/workspace/live.ts';
import { entriesOf, GitOracle } from '../fixtures/git-oracle.ts';
import { chooseEdit, growTree, type Random, randomFrom } from '../fixtures/random-edits.ts';
import { harvest, type Tree } from '../fixtures/tree.ts';
import { isRealRoot } from '../harness/machine.ts';

const cases = Number(process.env.CARREL_MERGE_CASES ?? 60);
const firstSeed = Number(process.env.CARREL_MERGE_SEED ?? 1);
const marks = isRealRoot ? 'trusted' : 'user';

let root: string;
let oracle: GitOracle;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'carrel-oracle-'));
  // In memory: every apply waits for its disk several times.
  mount('carrel-test', root, 'tmpfs', 0, 'size=512m,mode=755');
  oracle = new GitOracle(join(root, 'git'));
});
afterAll(() => {
  detachMount(root);
  rmSync(root, { recursive: true });
});

/** A project, its working copy, and plain copies of what the agent began with and has. */
class Testbed {
  readonly said: string[] = [];
  readonly #folder: string;
  readonly project: string;
  readonly base: string;
  readonly theirs: string;
  readonly journal: string;
  readonly place: WorkspacePlace;
  readonly #inside: string;

  constructor(folder: string) {
    this.#folder = folder;
    [this.project, this.base, this.theirs, this.journal, this.#inside] = [
      'project',
      'base',
      'theirs',
      'journal',
      'inside',
    ].map((name) => join(folder, name)) as [string, string, string, string, string];
    this.place = { kind: 'overlay', project: this.project, base: this.project, live: true, marks, folder };
    for (const name of ['upper', 'work', 'inside', 'project']) mkdirSync(join(folder, name), { recursive: true });
  }

  tick(): void {
    waitForTicks(join(this.#folder, 'clock'));
  }

  look(): void {
    this.tick();
    keepBases(this.place);
  }

  owner(random: Random, edits: number): void {
    for (let n = 0; n < edits; n += 1) {
      const edit = chooseEdit(random, this.project);
      if (edit === null) continue;
      this.said.push(`owner: ${edit.says}`);
      edit.do(this.project);
    }
  }

  mount(): void {
    const own = marks === 'user' ? 'userxattr' : 'index=on,metacopy=off,redirect_dir=off';
    const layers = `lowerdir=${this.project},upperdir=${this.#folder}/upper,workdir=${this.#folder}/work`;
    mount('carrel-test', this.#inside, 'overlay', 0, `${layers},${own}`);
  }

  agent(random: Random, edits: number): void {
    for (let n = 0; n < edits; n += 1) {
      const edit = chooseEdit(random, this.theirs);
      if (edit === null) continue;
      this.said.push(`agent: ${edit.says}`);
      edit.do(this.#inside);
      edit.do(this.theirs);
    }
  }

  dispose(): void {
    detachMount(this.#inside);
    rmSync(this.#folder, { recursive: true });
  }
}

function copyOf(from: string, to: string): void {
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
}

/** `looked`: a look is taken between the agent and the owner. */
function play(testbed: Testbed, random: Random, looked: boolean): void {
  growTree(random, testbed.project);
  testbed.look();
  testbed.mount();
  testbed.owner(random, random(3));
  testbed.look();
  for (const copy of [testbed.base, testbed.theirs]) copyOf(testbed.project, copy);
  testbed.agent(random, 1 + random(4));
  if (looked) testbed.look();
  else testbed.said.push('no look');
  testbed.owner(random, 1 + random(4));
}

function planOf({ place, project }: Testbed, resolution: Resolution | null): ApplyPlan {
  const { changes } = keepAndList(place);
  expect(changes, 'one walk looks and lists').toEqual(listChanges(place).changes);
  return planApply([{ sandbox: 'ada', changes }], project, { resolution, allow: [...gateKinds] });
}

const conflictsOf = (plan: ApplyPlan) => plan.paths.filter(({ conflict }) => conflict !== null);
const reasonsOf = (plan: ApplyPlan) => conflictsOf(plan).map(({ path, conflict }) => `${path}: ${conflict!.reason}`);

interface Trees {
  readonly base: Tree;
  readonly ours: Tree;
  readonly theirs: Tree;
}

/** True: every conflict is about an empty folder, of which git knows nothing. */
function isAboutEmptyFolder({ base, ours, theirs }: Trees, plan: ApplyPlan): boolean {
  const isEmptyFolder = (tree: Tree, path: string) =>
    tree[path]?.type === 'folder' &&
    !Object.keys(tree).some((other) => other.startsWith(`${path}/`) && tree[other]!.type !== 'folder');
  return conflictsOf(plan).every(({ path }) => [base, ours, theirs].some((tree) => isEmptyFolder(tree, path)));
}

/**
 * True: the agent wrote the file and the owner deleted it, with no look between them. It then counts as a new file, and
 * nothing is lost.
 */
function isTakenAgain({ base, ours, theirs }: Trees, path: string): boolean {
  return base[path] !== undefined && ours[path] === undefined && theirs[path] !== undefined;
}

/** Checks that paths that the agent never saw stay, and that an undo restores the project. */
function checkResolved(testbed: Testbed, resolution: Resolution, { base, ours, theirs }: Trees): void {
  const plan = planOf(testbed, resolution);
  if (plan.blocked) return;
  commitApply(plan, testbed.project, testbed.journal, {});
  const now = harvest(testbed.project);
  for (const path of Object.keys(ours))
    if (base[path] === undefined && theirs[path] === undefined)
      expect([path, now[path]], `${resolution} keeps what the agent never saw`).toEqual([path, ours[path]]);
  if (plan.steps.length > 0) undoApply(testbed.journal);
  rmSync(testbed.journal, { recursive: true, force: true });
  expect(harvest(testbed.project)).toEqual(ours);
}

const tally = { merged: 0, refused: 0, 'refused without need': 0 };

function check(testbed: Testbed, looked: boolean, resolution: Resolution): void {
  const trees = { base: harvest(testbed.base), ours: harvest(testbed.project), theirs: harvest(testbed.theirs) };
  const { conflicts, entries } = oracle.merge(trees.base, trees.ours, trees.theirs);
  const plan = planOf(testbed, null);
  if (!plan.blocked) {
    if (!looked && conflicts.every((path) => isTakenAgain(trees, path))) return;
    expect(conflicts, 'git has a conflict').toEqual([]);
    commitApply(plan, testbed.project, testbed.journal, {});
    expect([...entriesOf(harvest(testbed.project))].sort()).toEqual([...entries].sort());
    tally.merged += 1;
    return;
  }
  checkResolved(testbed, resolution, trees);
  tally.refused += 1;
  if (conflicts.length > 0 || isAboutEmptyFolder(trees, plan)) return;
  tally['refused without need'] += 1;
  if (looked) throw new Error(`refused: ${reasonsOf(plan).join('; ')}`);
}

describe('an apply merges trees as git does', () => {
  afterAll(() => console.log(`${cases} cases from ${firstSeed}: ${JSON.stringify(tally)}`));

  it.each(Array.from({ length: cases }, (_, n) => firstSeed + n))('seed %i', (seed) => {
    const testbed = new Testbed(mkdtempSync(join(root, 'case-')));
    const random = randomFrom(seed);
    const looked = seed % 4 !== 0;
    try {
      play(testbed, random, looked);
      check(testbed, looked, (['ours', 'theirs', 'leave'] as const)[seed % 3]!);
    } catch (error) {
      throw new Error(`seed ${seed}: ${testbed.said.join(', ')}: ${(error as Error).message}`, { cause: error });
    } finally {
      testbed.dispose();
    }
  });
});
