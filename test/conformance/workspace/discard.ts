/** Discarding makes a working copy its base again. */
import { execFileSync } from 'node:child_process';
import { linkSync, lstatSync, mkdirSync, readdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { adoptAgentVersions, keepBases } from '../../../src/noun/workspace/change/base/base.ts';
import { listChanges } from '../../../src/noun/workspace/change/changes.ts';
import { discardChanges } from '../../../src/noun/workspace/change/discard.ts';
import type { Workspace, WorkspaceKindUnderTest } from '../workspace.ts';
import { cases, remove, type Tree, treeAt } from './cases.ts';
import { differences } from './oracle.ts';

export function discardCases(kind: WorkspaceKindUnderTest): void {
  describe('discards', () => {
    for (const one of cases) {
      it(`everything: ${one.name}`, () => {
        const workspace = kind.open(one.fill);
        one.change(treeAt(workspace.inside));
        const listed = paths(workspace);
        expect(discarded(workspace, [])).toEqual(listed);
        expect(paths(workspace)).toEqual([]);
        expect(differencesInside(workspace)).toEqual([]);
      });

      it(`each change by itself: ${one.name}`, () => {
        const workspace = kind.open(one.fill);
        one.change(treeAt(workspace.inside));
        for (const path of paths(workspace)) {
          discarded(workspace, [path]);
          expect(paths(workspace).filter((left) => left === path || left.startsWith(`${path}/`))).toEqual([]);
          expect(differencesInside(workspace)).toEqual(paths(workspace));
        }
        expect(differencesInside(workspace)).toEqual([]);
      });
    }

    it('one file out of a folder that was deleted, and the others stay deleted', () => {
      const workspace = kind.open(fillFolder);
      remove(treeAt(workspace.inside), 'folder');
      expect(discarded(workspace, ['folder/sub/a'])).toEqual(['folder/sub/a']);
      expect(differencesInside(workspace)).toEqual(['folder/b', 'folder/sub/c']);
    });

    it('one file out of a folder that became a file, which has to go too', () => {
      const workspace = kind.open(fillFolder);
      remove(treeAt(workspace.inside), 'folder/sub');
      writeFileSync(join(workspace.inside, 'folder/sub'), 'a file');
      expect(discarded(workspace, ['folder/sub/a'])).toEqual(['folder/sub', 'folder/sub/a']);
      expect(differencesInside(workspace)).toEqual(['folder/sub/c']);
    });

    it('one file out of a folder made again, and the rest of it stays', () => {
      const workspace = kind.open(fillFolder);
      remove(treeAt(workspace.inside), 'folder');
      mkdirSync(join(workspace.inside, 'folder'));
      writeFileSync(join(workspace.inside, 'folder/b'), 'other');
      writeFileSync(join(workspace.inside, 'folder/new'), 'new');
      discarded(workspace, ['folder/b']);
      expect(differencesInside(workspace)).toEqual(['folder/new', 'folder/sub', 'folder/sub/a', 'folder/sub/c']);
      discarded(workspace, ['folder/sub']);
      expect(differencesInside(workspace)).toEqual(['folder/new']);
    });

    it('a path that was applied before, with its records', () => {
      const workspace = kind.open(fillFolder);
      writeFileSync(join(workspace.inside, 'folder/b'), 'agent');
      keepBases(workspace.place);
      adoptAgentVersions(workspace.place, listChanges(workspace.place).changes, 'one');
      writeFileSync(join(workspace.inside, 'folder/b'), 'again');
      expect(discarded(workspace, ['folder'])).toEqual(['folder/b']);
      expect(paths(workspace)).toEqual([]);
      expect(differencesInside(workspace)).toEqual([]);
    });

    it('nothing at paths without changes', () => {
      const workspace = kind.open(fillFolder);
      writeFileSync(join(workspace.inside, 'folder/b'), 'agent');
      expect(discarded(workspace, ['folder/sub', 'nowhere', 'folder/b/c'])).toEqual([]);
      expect(paths(workspace)).toEqual(['folder/b']);
    });

    it('every name of one file of the base, so that they are one file again', () => {
      const names = ['one', 'folder/two'];
      const workspace = kind.open((base) => {
        mkdirSync(base('folder'));
        writeFileSync(base('one'), 'linked');
        linkSync(base('one'), base('folder/two'));
      });
      const inodes = () => new Set(names.map((name) => lstatSync(join(workspace.inside, name)).ino)).size;
      expect(inodes()).toBe(1);
      for (const name of names) {
        unlinkSync(join(workspace.inside, name));
        writeFileSync(join(workspace.inside, name), name);
      }
      expect([inodes(), discarded(workspace, [])]).toEqual([2, names.toSorted()]);
      expect([inodes(), differencesInside(workspace)]).toEqual([1, []]);
    });

    it('a tree deeper than any path may be, and leaves nothing of it', () => {
      const workspace = kind.open(fillFolder);
      const program = 'import os,sys\nos.chdir(sys.argv[1])\nfor _ in range(1100): os.mkdir("dddd"); os.chdir("dddd")';
      execFileSync('/usr/bin/python3', ['-c', program, workspace.inside]);
      expect(discarded(workspace, []).length).toBe(1100);
      expect(readdirSync(workspace.inside)).toEqual(['folder']);
      expect(readdirSync(workspace.place.folder)).not.toContain('discarded');
      expect(lstatSync(workspace.inside).isDirectory()).toBe(true);
    });
  });
}

function fillFolder(base: Tree): void {
  mkdirSync(base('folder/sub'), { recursive: true });
  for (const name of ['folder/b', 'folder/sub/a', 'folder/sub/c']) writeFileSync(base(name), name);
}

function paths({ place }: Workspace): string[] {
  return listChanges(place).changes.map(({ path }) => path);
}

function discarded(workspace: Workspace, what: readonly string[]): string[] {
  workspace.unmount();
  try {
    return discardChanges(workspace.place, what);
  } finally {
    workspace.mount();
  }
}

/** The differences from the base that an agent would see. */
function differencesInside({ place, inside }: Workspace): string[] {
  return differences(place.base, inside).map(({ path }) => path);
}
