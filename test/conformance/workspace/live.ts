/**
 * The base of a change is what the project had when the agent first changed the path, whatever the owner did before
 * and after. Where that can no longer be told, the change says so.
 *
 * Times are of the kernel's coarse clock, so what is to lie between two of them is waited for by looking at that clock.
 */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Change } from '../../../src/model/change.ts';
import { keepBases, settleBases, voidApply } from '../../../src/workspace/change/bases.ts';
import { listChanges } from '../../../src/workspace/change/changes.ts';
import { readContent } from '../../../src/workspace/tree/content.ts';
import type { WorkspacePlace } from '../../../src/workspace/workspace.ts';
import type { Workspace, WorkspaceKindUnderTest } from '../workspace.ts';

export function liveBaseSuite(kind: WorkspaceKindUnderTest): void {
  describe(`${kind.name} knows the base of each change`, () => {
    let workspace: Workspace;
    let place: WorkspacePlace;
    let project: (path: string) => string;
    let agent: (path: string) => string;
    let tick: () => void;

    beforeEach(() => {
      workspace = kind.open((base) => {
        mkdirSync(base('folder'));
        mkdirSync(base('spare'));
        for (const name of ['file', 'linked', 'folder/file', 'folder/other', 'spare/file']) {
          writeFileSync(base(name), `first ${name}`);
        }
        linkSync(base('linked'), base('linked-too'));
      });
      place = workspace.place;
      project = (path) => join(place.base, path);
      agent = (path) => join(workspace.inside, path);
      tick = () => waitForTicks(join(workspace.scratch, 'clock'));
      tick();
      keepBases(place);
      tick();
    });
    const list = () => listChanges(place).changes;
    const only = (path: string): Change => {
      const found = list().filter((change) => change.path === path);
      expect(found).toHaveLength(1);
      return found[0]!;
    };
    const base = (path: string) => {
      const change = only(path);
      const content = change.beforeContent && readContent(change.beforeContent, path, 1000);
      return { known: change.baseKnown, content: content?.toString() ?? null };
    };
    const replace = (path: string, content: string) => {
      writeFileSync(`${path}.tmp`, content);
      renameSync(`${path}.tmp`, path);
    };

    describe('with nothing moved', () => {
      it('modified in place, replaced, hard linked, deleted, added', () => {
        writeFileSync(agent('file'), 'agent');
        replace(agent('folder/file'), 'agent');
        appendFileSync(agent('linked'), 'agent');
        unlinkSync(agent('folder/other'));
        writeFileSync(agent('new'), 'agent');
        expect(list().map(({ path, baseKnown }) => [path, baseKnown])).toEqual([
          ['file', true],
          ['folder/file', true],
          ['folder/other', true],
          ['linked', true],
          ...(kind.keepsLinks ? [['linked-too', true]] : []),
          ['new', true],
        ]);
        expect(base('folder/file').content).toBe('first folder/file');
      });

      it('renamed inside: known to have been added', () => {
        renameSync(agent('file'), agent('renamed'));
        expect(list()).toMatchObject([
          { path: 'file', after: null, baseKnown: true },
          { path: 'renamed', before: null, baseKnown: true },
        ]);
      });

      it('also before the first review', () => {
        rmSync(join(place.folder, 'base.log'));
        workspace.unmount();
        rmSync(join(place.folder, 'upper'), { recursive: true });
        mkdirSync(join(place.folder, 'upper'));
        workspace.mount();
        unlinkSync(agent('folder/other'));
        expect(only('folder/other').baseKnown).toBe(true);
      });
    });

    describe('with a look between the agent and the owner', () => {
      it('modified by both: what the agent began with', () => {
        writeFileSync(agent('file'), 'agent');
        keepBases(place);
        writeFileSync(project('file'), 'owner');
        expect(base('file')).toEqual({ known: true, content: 'first file' });
      });

      it('deleted by the agent, changed by the owner', () => {
        unlinkSync(agent('file'));
        keepBases(place);
        writeFileSync(project('file'), 'owner');
        expect(base('file')).toEqual({ known: true, content: 'first file' });
      });

      it('changed by the agent, deleted by the owner', () => {
        appendFileSync(agent('file'), '!');
        keepBases(place);
        unlinkSync(project('file'));
        expect(base('file')).toEqual({ known: true, content: 'first file' });
      });

      it('added by both', () => {
        writeFileSync(agent('new'), 'agent');
        keepBases(place);
        writeFileSync(project('new'), 'owner');
        expect(only('new')).toMatchObject({ before: null, baseKnown: true });
      });

      it('touched by the agent: no change, also when the owner then changes it', () => {
        chmodSync(agent('file'), 0o600);
        chmodSync(agent('file'), lstatSync(project('file')).mode & 0o777);
        chmodSync(agent('folder'), 0o700);
        chmodSync(agent('folder'), lstatSync(project('folder')).mode & 0o777);
        keepBases(place);
        writeFileSync(project('file'), 'owner');
        chmodSync(project('folder'), 0o711);
        expect(list()).toEqual([]);
      });

      it('deleted by both: no change, also when the owner makes it again', () => {
        unlinkSync(agent('file'));
        unlinkSync(project('file'));
        keepBases(place);
        writeFileSync(project('file'), 'owner');
        expect(list()).toEqual([]);
      });

      it('the owner moves before the look and the agent after it', () => {
        writeFileSync(project('file'), 'owner');
        tick();
        keepBases(place);
        replace(agent('file'), 'agent');
        expect(base('file')).toEqual({ known: true, content: 'owner' });
      });

      it('gone with its folder, and brought back: its content is kept then', () => {
        rmSync(agent('folder'), { recursive: true });
        keepBases(place);
        mkdirSync(agent('folder'));
        writeFileSync(agent('folder/file'), 'agent');
        keepBases(place);
        writeFileSync(project('folder/file'), 'owner');
        expect(base('folder/file')).toEqual({ known: true, content: 'first folder/file' });
        writeFileSync(project('folder/other'), 'owner');
        expect(only('folder/other')).toMatchObject({ baseKnown: true, beforeContent: { at: 'lost' } });
      });
    });

    describe('what the owner puts where the agent hides the base, after a look', () => {
      it('a file in a folder that the agent deleted is no change', () => {
        rmSync(agent('folder'), { recursive: true });
        keepBases(place);
        writeFileSync(project('folder/new'), 'owner');
        mkdirSync(project('folder/inner'));
        writeFileSync(project('folder/inner/new'), 'owner');
        keepBases(place);
        expect(list().map(({ path, baseKnown }) => [path, baseKnown])).toEqual([
          ['folder', true],
          ['folder/file', true],
          ['folder/other', true],
        ]);
      });

      it('a file in a folder that the agent deleted and made again is no change', () => {
        rmSync(agent('folder'), { recursive: true });
        mkdirSync(agent('folder'));
        writeFileSync(agent('folder/mine'), 'agent');
        keepBases(place);
        writeFileSync(project('folder/new'), 'owner');
        expect(list().map(({ path }) => path)).toEqual(['folder/file', 'folder/mine', 'folder/other']);
      });

      it('a folder in the place of a file that the agent added, and what is in it, is no deletion', () => {
        writeFileSync(agent('added'), 'agent');
        keepBases(place);
        mkdirSync(project('added'));
        writeFileSync(project('added/in'), 'owner');
        expect(list()).toMatchObject([{ path: 'added', before: null, after: { type: 'file' }, baseKnown: true }]);
      });

      it('a file that the agent then adds as well was added by both', () => {
        rmSync(agent('folder'), { recursive: true });
        keepBases(place);
        writeFileSync(project('folder/new'), 'owner');
        mkdirSync(agent('folder'));
        writeFileSync(agent('folder/new'), 'agent');
        for (const look of [() => {}, () => keepBases(place)]) {
          look();
          expect(only('folder/new')).toMatchObject({ before: null, baseKnown: true });
        }
      });

      it('a file that the owner rewrote with the same content is still the base', () => {
        rmSync(agent('folder'), { recursive: true });
        keepBases(place);
        replace(project('folder/file'), 'first folder/file');
        const { beforeContent } = only('folder/file');
        expect(beforeContent).toMatchObject({ at: 'lost', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
      });
    });

    describe('with no look between them', () => {
      it('the owner adds a file to a folder that the agent deleted: it may never have been seen', () => {
        rmSync(agent('folder'), { recursive: true });
        writeFileSync(project('folder/new'), 'owner');
        expect(only('folder/new')).toMatchObject({ after: null, baseKnown: false, perhapsUnseen: true });
        expect(only('folder')).not.toHaveProperty('perhapsUnseen');
      });

      it('the owner before the agent, who then replaces a file in the folder: proven by the copy of the folder', () => {
        writeFileSync(project('folder/file'), 'owner');
        tick();
        replace(agent('folder/file'), 'agent');
        expect(base('folder/file')).toEqual({ known: place.marks === 'trusted', content: 'owner' });
      });

      it('the owner before the agent, who changes in place: proven by the copy', () => {
        writeFileSync(project('file'), 'owner');
        tick();
        appendFileSync(agent('file'), 'agent');
        expect(base('file')).toEqual({ known: place.marks === 'trusted', content: 'owner' });
      });

      it('the agent, the owner, and a copy of it all since: not known', () => {
        appendFileSync(agent('file'), 'agent');
        tick();
        writeFileSync(project('file'), 'owner');
        tick();
        workspace.unmount();
        const [upper, aside] = [join(place.folder, 'upper'), join(place.folder, 'aside')];
        renameSync(upper, aside);
        execFileSync('cp', ['-a', aside, upper]);
        workspace.mount();
        expect(only('file').baseKnown).toBe(false);
        rmSync(join(place.folder, 'base.log'));
        expect(only('file').baseKnown).toBe(false);
      });

      it('the owner after the agent: not known', () => {
        appendFileSync(agent('file'), 'agent');
        writeFileSync(project('file'), 'owner');
        expect(base('file')).toEqual({ known: false, content: 'owner' });
      });

      it('a base that is not known then is not known later', () => {
        appendFileSync(agent('file'), 'agent');
        writeFileSync(project('file'), 'owner');
        for (let looks = 0; looks < 2; looks += 1) {
          tick();
          keepBases(place);
        }
        expect(base('file')).toEqual({ known: false, content: 'owner' });
      });

      it('not known, until the project has the same', () => {
        appendFileSync(agent('file'), 'agent');
        writeFileSync(project('file'), 'owner');
        keepBases(place);
        writeFileSync(project('file'), readFileSync(agent('file')));
        keepBases(place);
        writeFileSync(project('file'), 'owner again');
        expect(list()).toEqual([]);
      });

      it('replaced by the agent twice, the owner in between: not known', () => {
        replace(agent('file'), 'agent');
        tick();
        writeFileSync(project('file'), 'owner');
        tick();
        replace(agent('file'), 'agent again');
        expect(only('file').baseKnown).toBe(false);
      });

      it('changed, then deleted by the agent, the owner in between: not known', () => {
        appendFileSync(agent('file'), 'agent');
        tick();
        writeFileSync(project('file'), 'owner');
        tick();
        unlinkSync(agent('file'));
        expect(only('file').baseKnown).toBe(false);
      });

      it('changed by the agent, deleted by the owner: not known', () => {
        appendFileSync(agent('file'), 'agent');
        unlinkSync(project('file'));
        expect(only('file')).toMatchObject({ before: null, baseKnown: false });
      });

      it('added by both: not known to have been absent', () => {
        writeFileSync(agent('new'), 'agent');
        tick();
        writeFileSync(project('new'), 'owner');
        expect(only('new')).toMatchObject({ before: { type: 'file' }, baseKnown: false });
      });

      it('a folder exchanged by the owner, with old files in it: not known', () => {
        replace(agent('folder/file'), 'agent');
        renameSync(project('folder'), project('folder-old'));
        renameSync(project('spare'), project('folder'));
        expect(base('folder/file')).toEqual({ known: false, content: 'first spare/file' });
      });

      it('the owner adds a file beside: still known', () => {
        replace(agent('folder/file'), 'agent');
        writeFileSync(project('folder/beside'), 'owner');
        expect(base('folder/file')).toEqual({ known: true, content: 'first folder/file' });
      });

      it('the owner adds a file to a folder that the agent deleted: the others in it are known', () => {
        rmSync(agent('folder'), { recursive: true });
        writeFileSync(project('folder/new'), 'owner');
        expect(base('folder/file')).toEqual({ known: true, content: 'first folder/file' });
      });

      it('the owner exchanges a folder that the agent deleted: not known', () => {
        rmSync(agent('folder'), { recursive: true });
        renameSync(project('folder'), project('folder-old'));
        renameSync(project('spare'), project('folder'));
        expect(base('folder/file')).toEqual({ known: false, content: 'first spare/file' });
      });
    });

    describe('large files', () => {
      const largeBytes = 5 * 1024 * 1024;
      beforeEach(() => {
        writeFileSync(project('large'), '');
        truncateSync(project('large'), largeBytes);
        tick();
        keepBases(place);
        appendFileSync(agent('large'), 'agent');
        keepBases(place);
      });

      it('are read from the project while they stand there', () => {
        expect(only('large')).toMatchObject({ baseKnown: true, beforeContent: { at: 'tree', root: place.project } });
        expect(lstatSync(join(place.folder, 'base.log')).size).toBeLessThan(100_000);
      });

      it('are lost afterwards, but not their size', () => {
        appendFileSync(project('large'), 'owner');
        expect(only('large')).toMatchObject({
          baseKnown: true,
          before: { sizeBytes: largeBytes },
          beforeContent: { at: 'lost' },
        });
      });

      it('are settled by what they are', () => {
        execFileSync('cp', [agent('large'), project('large')]);
        settleBases(place, [only('large')], 'one');
        expect(list()).toEqual([]);
        appendFileSync(project('large'), 'owner');
        expect(list()).toEqual([]);
        appendFileSync(agent('large'), 'more');
        expect(only('large')).toMatchObject({ before: { sizeBytes: largeBytes + 5 }, beforeContent: { at: 'lost' } });
      });
    });

    describe('taken over and taken back', () => {
      it('has its changes again', () => {
        writeFileSync(agent('file'), 'agent');
        keepBases(place);
        replace(project('file'), 'agent');
        settleBases(place, [only('file')], 'one');
        expect(list()).toEqual([]);
        replace(project('file'), 'first file');
        voidApply(place, 'another');
        expect(list()).toEqual([]);
        voidApply(place, 'one');
        voidApply(place, 'one');
        expect(base('file')).toEqual({ known: true, content: 'first file' });
      });

      it('has those of one apply again and not those of the next', () => {
        writeFileSync(agent('file'), 'agent');
        keepBases(place);
        settleBases(place, list(), 'one');
        writeFileSync(agent('file'), 'agent again');
        settleBases(place, list(), 'two');
        expect(list()).toEqual([]);
        voidApply(place, 'one');
        expect(list()).toEqual([]);
        voidApply(place, 'two');
        expect(base('file')).toEqual({ known: true, content: 'first file' });
      });

      it('merges further changes against what was taken over', () => {
        writeFileSync(agent('file'), 'agent');
        keepBases(place);
        settleBases(place, list(), 'one');
        replace(project('file'), 'agent and owner');
        writeFileSync(agent('file'), 'agent again');
        keepBases(place);
        expect(base('file')).toEqual({ known: true, content: 'agent' });
      });

      it('added, taken over, deleted by the agent', () => {
        writeFileSync(agent('new'), 'agent');
        settleBases(place, list(), 'one');
        writeFileSync(project('new'), 'agent');
        unlinkSync(agent('new'));
        expect(only('new')).toMatchObject({ before: { type: 'file' }, after: null, baseKnown: true });
      });
    });
  });
}

/** Until the clock that files are stamped by has moved further than it may lag behind. */
export function waitForTicks(probe: string): void {
  const stamp = () => {
    writeFileSync(probe, 'x');
    return lstatSync(probe, { bigint: true }).mtimeNs;
  };
  const begin = stamp();
  while (stamp() < begin + 25_000_000n);
}
