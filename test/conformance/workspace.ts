/**
 * What every kind of working copy promises, sentence by sentence of `src/noun/workspace/workspace.ts`. The suite makes the
 * same changes to a working copy and to a plain copy of its base; a plain comparison then says what must be listed.
 */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { adoptAgentVersions, keepBases } from '../../src/noun/workspace/change/base/base.ts';
import { listChanges } from '../../src/noun/workspace/change/changes.ts';
import { copyContent, readContent } from '../../src/noun/workspace/tree/content.ts';
import type { WorkspacePlace } from '../../src/noun/workspace/workspace.ts';
import { attackCases } from './workspace/attacks.ts';
import { cases, type Tree, treeAt } from './workspace/cases.ts';
import { discardCases } from './workspace/discard.ts';
import { fuzzCases } from './workspace/fuzz.ts';
import { at, differences, plainCopy, shown } from './workspace/oracle.ts';

export interface Workspace {
  readonly place: WorkspacePlace;
  /** Where an agent works, as long as it is mounted. */
  readonly inside: string;
  /** A folder of the test's own. */
  readonly scratch: string;
  mount(): void;
  unmount(): void;
}

export interface WorkspaceKindUnderTest {
  readonly name: string;
  /** True: hard links of the base stay one file, whichever name it is changed by. */
  readonly keepsLinks: boolean;
  /** A mounted working copy of what `fill` makes. */
  open(fill: (base: Tree) => void): Workspace;
}

export function workspaceSuite(kind: WorkspaceKindUnderTest): void {
  describe(`${kind.name} keeps the contract of a workspace`, () => {
    describe('lists what differs from the base', () => {
      for (const one of cases) {
        it(one.name, () => {
          const workspace = kind.open(one.fill);
          const expected = changedAlike(kind, workspace, one.change);
          expect(shown(listChanges(workspace.place).changes)).toEqual(expected);
          expect(expected.map(({ path }) => path)).toEqual(expect.arrayContaining([...one.changed]));
          expect(expected.length === 0).toBe(one.changed.length === 0);
        });
      }
      hugeCase(kind);
      contentCase(kind);
      gitCase(kind);
      adoptCases(kind);
    });
    fuzzCases(kind);
    attackCases(kind);
    discardCases(kind);
  });
}

/** Changes the working copy and a plain copy in the same way and returns the differences of the latter. */
export function changedAlike(
  { keepsLinks }: WorkspaceKindUnderTest,
  { place, inside, scratch }: Workspace,
  change: (tree: Tree) => void,
) {
  const plain = join(scratch, 'plain');
  plainCopy(place.base, plain, keepsLinks);
  change(treeAt(plain));
  change(treeAt(inside));
  return differences(place.base, plain);
}

function hugeCase(kind: WorkspaceKindUnderTest): void {
  it('a huge file that differs in one byte, and not one that is equal', () => {
    const hugeBytes = 256 * 1024 ** 2;
    const { place, inside, scratch } = kind.open((base) => {
      for (const name of ['changed', 'same']) {
        writeFileSync(base(name), '');
        truncateSync(base(name), hugeBytes);
      }
    });
    for (const name of ['changed', 'same']) truncateSync(join(inside, name), hugeBytes + 1);
    for (const name of ['changed', 'same']) truncateSync(join(inside, name), hugeBytes);
    execFileSync('dd', ['if=/dev/zero', `of=${inside}/same`, 'bs=1', 'count=1', 'conv=notrunc', 'status=none']);
    const fd = openSync(join(inside, 'changed'), 'r+');
    writeFileSync(fd, 'x');
    closeSync(fd);

    const { changes } = listChanges(place);
    expect(changes.map(({ path, after }) => [path, after?.sizeBytes])).toEqual([['changed', hugeBytes]]);
    const to = openSync(join(scratch, 'copied'), 'w');
    expect(copyContent(changes[0]!.afterContent!, 'changed', to)?.bytes).toBe(hugeBytes);
    closeSync(to);
    expect(lstatSync(join(scratch, 'copied'))).toMatchObject({ size: hugeBytes });
    expect(lstatSync(join(scratch, 'copied')).blocks * 512).toBeLessThan(10_000_000);
    expect(readStart(join(scratch, 'copied'))).toBe('x\0');
  });
}

function readStart(path: string): string {
  const fd = openSync(path, 'r');
  const bytes = Buffer.alloc(2);
  readSync(fd, bytes);
  closeSync(fd);
  return bytes.toString();
}

function contentCase(kind: WorkspaceKindUnderTest): void {
  it('the content of both sides can be read, up to a limit', () => {
    const { place, inside } = kind.open((base) => writeFileSync(base('f\xff'), 'before'));
    writeFileSync(at(inside, 'f\xff'), 'after!!');
    const [change] = listChanges(place).changes;
    expect(readContent(change!.beforeContent!, 'f\xff', 6)?.toString()).toBe('before');
    expect(readContent(change!.beforeContent!, 'f\xff', 5)).toBeNull();
    expect(readContent(change!.afterContent!, 'f\xff', 100)?.toString()).toBe('after!!');
    expect(readFileSync(at(place.base, 'f\xff'), 'utf8')).toBe('before');
  });
}

function gitCase(kind: WorkspaceKindUnderTest): void {
  it('of .git only paths that can run something', () => {
    const { place, inside } = kind.open((base) => {
      mkdirSync(base('.git/hooks'), { recursive: true });
      mkdirSync(base('.git/objects/aa'), { recursive: true });
      mkdirSync(base('sub/.GIT/info'), { recursive: true });
      for (const name of ['.git/config', '.git/HEAD', '.git/objects/aa/b', 'sub/.GIT/info/attributes']) {
        writeFileSync(base(name), 'old');
      }
    });
    const written = ['hooks/pre-commit', 'config', 'HEAD', 'info/attributes', 'info/exclude', 'modules/m/config'];
    const more = ['modules/m/n/hooks/x', 'modules/m/HEAD', 'worktrees/w/config.worktree', 'worktrees/w/HEAD'];
    for (const name of [...written, ...more]) writeNew(join(inside, '.git', name));
    writeNew(join(inside, 'sub/.GIT/info/attributes'));
    writeNew(join(inside, 'other/.git'));

    const { changes, hiddenInGit } = listChanges(place);
    expect(changes.map(({ path }) => path)).toEqual([
      '.git/config',
      '.git/hooks/pre-commit',
      '.git/info/attributes',
      '.git/modules/m/config',
      '.git/modules/m/n/hooks',
      '.git/modules/m/n/hooks/x',
      '.git/worktrees/w/config.worktree',
      'other',
      'other/.git',
      'sub/.GIT/info/attributes',
    ]);
    // HEAD, info, info/exclude, modules, m, n, HEAD of m, worktrees, w, HEAD of w
    expect(hiddenInGit).toBe(10);
  });
}

function writeNew(path: string): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, 'new, and longer');
}

function adoptCases(kind: WorkspaceKindUnderTest): void {
  it('an applied path is no change, until the agent changes it again', () => {
    const { place, inside } = kind.open((base) => {
      for (const name of ['modified', 'deleted', 'other']) writeFileSync(base(name), 'before');
    });
    keepBases(place);
    writeFileSync(join(inside, 'modified'), 'agent');
    writeFileSync(join(inside, 'added'), 'agent');
    writeFileSync(join(inside, 'other'), 'agent');
    execFileSync('rm', [join(inside, 'deleted')]);
    const { changes } = listChanges(place);
    expect(changes.map(({ path }) => path)).toEqual(['added', 'deleted', 'modified', 'other']);
    adoptAgentVersions(place, changes.slice(0, 3), 'one');
    expect(listChanges(place).changes.map(({ path }) => path)).toEqual(['other']);

    writeFileSync(join(inside, 'modified'), 'again');
    writeFileSync(join(inside, 'deleted'), 'again');
    execFileSync('rm', [join(inside, 'added')]);
    const again = listChanges(place).changes.filter(({ path }) => path !== 'other');
    expect(again).toMatchObject([
      { path: 'added', before: { type: 'file' }, after: null, baseKnown: true },
      { path: 'deleted', before: null, after: { type: 'file' }, baseKnown: true },
      { path: 'modified', before: { sizeBytes: 5 }, after: { sizeBytes: 5 }, baseKnown: true },
    ]);
    expect(readContent(again[2]!.beforeContent!, 'modified', 100)?.toString()).toBe('agent');
  });
}
