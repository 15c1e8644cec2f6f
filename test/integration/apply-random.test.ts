/**
 * Applies random trees of base, project and agent, and checks the result by rules that need no files on disk: a path
 * that only one side changed is as that side has it, and no change of the owner is lost without a conflict.
 */
import { describe, expect, it } from 'vitest';
import { commitApply } from '../../src/noun/workspace/apply/commit/commit.ts';
import { undoApply } from '../../src/noun/workspace/apply/undo.ts';
import type { PathOutcome } from '../../src/noun/workspace/model/change.ts';
import { bench, isClean, open, outcomesOf, planOf } from '../fixtures/apply-bench.ts';
import { type Random, randomFrom } from '../fixtures/random-edits.ts';
import { alone, file, folder, hardLink, harvest, link, type Thing, type Tree } from '../fixtures/tree.ts';

const names = ['a', 'b', 'c\n', '\xff', 'd-', 'd'];

function thing(random: Random): Thing {
  const kind = random(6);
  if (kind === 0) return link(`${random(3)}`);
  if (kind <= 2) return folder([0o755, 0o700][random(2)]);
  return file(
    `${random(4)}\n${'same\n'.repeat(5)}${random(4)}\n${random(8) === 0 ? '\0' : ''}`,
    [0o644, 0o755][random(2)],
  );
}

function grow(random: Random, tree: Record<string, Thing>, inside: string, depth: number): void {
  for (const name of names.filter(() => random(2) === 0)) {
    const path = inside + name;
    tree[path] = thing(random);
    if (tree[path].type === 'folder' && depth > 0) grow(random, tree, `${path}/`, depth - 1);
  }
}

/** Turns some paths into hard links to existing files. */
function linkSome(random: Random, tree: Record<string, Thing>, times: number): void {
  for (let n = 0; n < times; n += 1) {
    const files = Object.keys(tree).filter((path) => tree[path]!.type === 'file');
    if (files.length === 0) return;
    const [from, inside] = [files[random(files.length)]!, files[random(files.length)]!];
    const to = [inside, `${inside.slice(0, inside.lastIndexOf('/') + 1)}link${random(2)}`][random(2)]!;
    if ((tree[to]?.type ?? 'file') !== 'file' || from === to) continue;
    const thing = hardLink(oneOf(tree[from]) ?? `new ${from}`, tree[from]!);
    [tree[from], tree[to]] = [thing, thing];
  }
  nameFirst(tree);
}

/** Identifies hard-linked files by their first name; a file with one name is no hard link any more. */
function nameFirst(tree: Record<string, Thing>): void {
  const names = new Map<string, string[]>();
  for (const path of Object.keys(tree).sort()) {
    const one = oneOf(tree[path]);
    if (one !== undefined) names.set(one, [...(names.get(one) ?? []), path]);
  }
  for (const paths of names.values())
    for (const path of paths) tree[path] = paths.length === 1 ? alone(tree[path])! : hardLink(paths[0]!, tree[path]!);
}

/** Returns a random variation of a tree. */
function mutate(random: Random, tree: Tree): Tree {
  const next: Record<string, Thing> = { ...tree };
  for (const path of Object.keys(tree)) {
    if (random(4) !== 0 || next[path] === undefined) continue;
    const was = next[path];
    const now = random(3) === 0 ? undefined : thing(random);
    if (was.type === 'folder' && now?.type !== 'folder') remove(next, `${path}/`);
    delete next[path];
    if (now) next[path] = now;
    if (now?.type === 'folder' && was.type !== 'folder') grow(random, next, `${path}/`, 0);
  }
  const folders = [
    '',
    ...Object.keys(next)
      .filter((path) => next[path]!.type === 'folder')
      .map((path) => `${path}/`),
  ];
  for (let n = random(3); n > 0; n -= 1) {
    const path = `${folders[random(folders.length)]}new${random(2)}`;
    next[path] ??= file(`${random(3)}`);
  }
  linkSome(random, next, random(3));
  return next;
}

function remove(tree: Record<string, Thing>, prefix: string): void {
  for (const path of Object.keys(tree)) if (path.startsWith(prefix)) delete tree[path];
}

const equal = (one: Thing | undefined, other: Thing | undefined) =>
  JSON.stringify(alone(one)) === JSON.stringify(alone(other));

const oneOf = (thing: Thing | undefined) => (thing as { one?: string } | undefined)?.one;

const written = new Set<PathOutcome | undefined>(['take', 'theirs', 'merge']);

/** Checks that an apply makes no hard links: what it writes is a file of its own, and all links are the owner's. */
function checkLinks(ours: Tree, now: Tree, outcomes: Record<string, PathOutcome>): void {
  for (const [path, thing] of Object.entries(now)) {
    const where = `${JSON.stringify(path)} ${outcomes[path]}`;
    if (written.has(outcomes[path]) && !equal(ours[path], thing)) expect(oneOf(thing), where).toBeUndefined();
    const one = oneOf(thing);
    if (one !== undefined) expect(oneOf(ours[path]), where).toBe(oneOf(ours[one]));
  }
}

/** Everything that must hold of one path, whatever the others are. */
function check(path: string, base: Tree, ours: Tree, theirs: Tree, now: Tree, outcome: PathOutcome | undefined): void {
  const [b, o, t, n] = [base, ours, theirs, now].map((tree) => alone(tree[path]));
  const where = `${JSON.stringify(path)} ${outcome}`;
  // A folder that the owner deleted is made again if the agent added something in it.
  if (o === undefined && n?.type === 'folder' && Object.keys(now).some((other) => other.startsWith(`${path}/`))) return;
  if (equal(b, t)) expect(n, where).toEqual(o);
  if (outcome === 'take') expect(n ?? null, where).toEqual(t ?? null);
  // A taken path must be as in the base, except if both sides have the same or a folder is involved, which has no
  // content.
  const hasFolder = b?.type === 'folder' || t?.type === 'folder';
  if (outcome === 'take' && o?.type !== 'folder' && !equal(o, t) && !(o === undefined && hasFolder))
    expect(o, where).toEqual(b);
  if (outcome === 'ours' || outcome === 'left' || outcome === 'same') expect(n ?? null, where).toEqual(o ?? null);
  if (outcome === 'theirs') expect(n ?? null, where).toEqual(t ?? null);
  if (outcome === 'merge') {
    expect([b?.type, o?.type, t?.type, n?.type], where).toEqual(['file', 'file', 'file', 'file']);
    const [first, last] = [lines(n)[0], lines(n)[6]];
    for (const side of [o, t]) {
      if (lines(side)[0] !== lines(b)[0]) expect(first, where).toBe(lines(side)[0]);
      if (lines(side)[6] !== lines(b)[6]) expect(last, where).toBe(lines(side)[6]);
    }
  }
}

function lines(thing: Thing | undefined): string[] {
  return thing?.type === 'file' ? thing.bytes.split('\n') : [];
}

describe('an apply of random trees keeps the rules for each path', () => {
  it.each(Array.from({ length: 200 }, (_, seed) => seed))('%i', (seed) => {
    const random = randomFrom(seed);
    const base: Record<string, Thing> = {};
    grow(random, base, '', 2);
    linkSome(random, base, 3);
    const [ours, theirs] = [mutate(random, base), mutate(random, base)];
    const one = bench(base, ours, theirs);
    const resolution = (['ours', 'leave', 'theirs', null] as const)[seed % 4]!;
    const plan = planOf(one, { ...open, resolution });
    expect(plan.blocked).toBe(plan.paths.some(({ outcome }) => outcome === 'conflict'));
    if (plan.blocked) return;
    commitApply(plan, one.project, one.journal, {});
    const [now, outcomes] = [harvest(one.project), outcomesOf(plan)];
    for (const path of new Set([...Object.keys(base), ...Object.keys(ours), ...Object.keys(theirs)]))
      check(path, base, ours, theirs, now, outcomes[path]);
    checkLinks(ours, now, outcomes);
    expect(isClean(one.project)).toBe(true);
    if (plan.steps.length > 0) undoApply(one.journal);
    expect(harvest(one.project)).toEqual(ours);
  });
});
