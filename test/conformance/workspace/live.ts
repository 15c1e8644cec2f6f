/**
 * The base of a change is what the project had when the agent first changed the path, whatever the owner did before and
 * after. If that is no longer known, the change says so.
 *
 * Times of files come from the kernel's coarse clock, so a test waits until that clock has moved on.
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
import { adoptAgentVersions, keepBases, voidApply } from '../../../src/noun/workspace/change/base/base.ts';
import { listChanges } from '../../../src/noun/workspace/change/changes.ts';
import type { Change } from '../../../src/noun/workspace/model/change.ts';
import { readContent } from '../../../src/noun/workspace/tree/content.ts';
import type { WorkspacePlace } from '../../../src/noun/workspace/workspace.ts';
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

    describe('if only the agent changes something', () => {
      it('the base of a path that it modified, replaced, deleted or added is known', () => {
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

      it('a renamed file counts as deleted and added, both with a known base', () => {
        renameSync(agent('file'), agent('renamed'));
        expect(list()).toMatchObject([
          { path: 'file', after: null, baseKnown: true },
          { path: 'renamed', before: null, baseKnown: true },
        ]);
      });

      it('the base of a deleted file is known even before the first observation', () => {
        rmSync(join(place.folder, 'base.log'));
        workspace.unmount();
        rmSync(join(place.folder, 'upper'), { recursive: true });
        mkdirSync(join(place.folder, 'upper'));
        workspace.mount();
        unlinkSync(agent('folder/other'));
        expect(only('folder/other').baseKnown).toBe(true);
      });
    });

    describe('if the base is observed between the agent and the owner', () => {
      it('the base of a file that both modified is what the agent began with', () => {
        writeFileSync(agent('file'), 'agent');
        keepBases(place);
        writeFileSync(project('file'), 'owner');
        expect(base('file')).toEqual({ known: true, content: 'first file' });
      });

      it('the base of a file that the agent deleted and the owner changed is known', () => {
        unlinkSync(agent('file'));
        keepBases(place);
        writeFileSync(project('file'), 'owner');
        expect(base('file')).toEqual({ known: true, content: 'first file' });
      });

      it('the base of a file that the agent changed and the owner deleted is known', () => {
        appendFileSync(agent('file'), '!');
        keepBases(place);
        unlinkSync(project('file'));
        expect(base('file')).toEqual({ known: true, content: 'first file' });
      });

      it('a file that both added is known to have been absent', () => {
        writeFileSync(agent('new'), 'agent');
        keepBases(place);
        writeFileSync(project('new'), 'owner');
        expect(only('new')).toMatchObject({ before: null, baseKnown: true });
      });

      it('a mode that the agent changed and set back is no change, also when the owner then changes the path', () => {
        chmodSync(agent('file'), 0o600);
        chmodSync(agent('file'), lstatSync(project('file')).mode & 0o777);
        chmodSync(agent('folder'), 0o700);
        chmodSync(agent('folder'), lstatSync(project('folder')).mode & 0o777);
        keepBases(place);
        writeFileSync(project('file'), 'owner');
        chmodSync(project('folder'), 0o711);
        expect(list()).toEqual([]);
      });

      it('a file that both deleted is no change, also when the owner makes it again', () => {
        unlinkSync(agent('file'));
        unlinkSync(project('file'));
        keepBases(place);
        writeFileSync(project('file'), 'owner');
        expect(list()).toEqual([]);
      });

      it('the base is the version of the owner who writes before the observation, if the agent writes after it', () => {
        writeFileSync(project('file'), 'owner');
        tick();
        keepBases(place);
        replace(agent('file'), 'agent');
        expect(base('file')).toEqual({ known: true, content: 'owner' });
      });

      it('the next observation keeps the base of a file that the agent deletes with its folder and makes again', () => {
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

    describe('if the owner adds paths where the agent hides the base, after an observation', () => {
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

    describe('if the base is not observed between the agent and the owner', () => {
      it('a file that the owner adds to a folder that the agent deleted is marked as perhaps unseen', () => {
        rmSync(agent('folder'), { recursive: true });
        writeFileSync(project('folder/new'), 'owner');
        expect(only('folder/new')).toMatchObject({ after: null, baseKnown: false, perhapsUnseen: true });
        expect(only('folder')).not.toHaveProperty('perhapsUnseen');
      });

      it('the copied folder proves the base if the owner writes a file and the agent then replaces it', () => {
        writeFileSync(project('folder/file'), 'owner');
        tick();
        replace(agent('folder/file'), 'agent');
        expect(base('folder/file')).toEqual({ known: place.marks === 'trusted', content: 'owner' });
      });

      it('the copied file proves the base if the owner writes a file and the agent then changes it in place', () => {
        writeFileSync(project('file'), 'owner');
        tick();
        appendFileSync(agent('file'), 'agent');
        expect(base('file')).toEqual({ known: place.marks === 'trusted', content: 'owner' });
      });

      it('the base is not known if the upper layer was copied after both wrote', () => {
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

      it('the base is not known if the owner writes after the agent', () => {
        appendFileSync(agent('file'), 'agent');
        writeFileSync(project('file'), 'owner');
        expect(base('file')).toEqual({ known: false, content: 'owner' });
      });

      it('a base that is not known stays unknown after later observations', () => {
        appendFileSync(agent('file'), 'agent');
        writeFileSync(project('file'), 'owner');
        for (let looks = 0; looks < 2; looks += 1) {
          tick();
          keepBases(place);
        }
        expect(base('file')).toEqual({ known: false, content: 'owner' });
      });

      it('a base that is not known is known again once the project has the same content', () => {
        appendFileSync(agent('file'), 'agent');
        writeFileSync(project('file'), 'owner');
        keepBases(place);
        writeFileSync(project('file'), readFileSync(agent('file')));
        keepBases(place);
        writeFileSync(project('file'), 'owner again');
        expect(list()).toEqual([]);
      });

      it('the base is not known if the agent replaces a file twice and the owner writes in between', () => {
        replace(agent('file'), 'agent');
        tick();
        writeFileSync(project('file'), 'owner');
        tick();
        replace(agent('file'), 'agent again');
        expect(only('file').baseKnown).toBe(false);
      });

      it('the base is not known if the agent changes and then deletes a file and the owner writes in between', () => {
        appendFileSync(agent('file'), 'agent');
        tick();
        writeFileSync(project('file'), 'owner');
        tick();
        unlinkSync(agent('file'));
        expect(only('file').baseKnown).toBe(false);
      });

      it('the base is not known if the agent changes a file and the owner deletes it', () => {
        appendFileSync(agent('file'), 'agent');
        unlinkSync(project('file'));
        expect(only('file')).toMatchObject({ before: null, baseKnown: false });
      });

      it('a file that both added is not known to have been absent', () => {
        writeFileSync(agent('new'), 'agent');
        tick();
        writeFileSync(project('new'), 'owner');
        expect(only('new')).toMatchObject({ before: { type: 'file' }, baseKnown: false });
      });

      it('the base is not known if the owner exchanges the folder for one with old files in it', () => {
        replace(agent('folder/file'), 'agent');
        renameSync(project('folder'), project('folder-old'));
        renameSync(project('spare'), project('folder'));
        expect(base('folder/file')).toEqual({ known: false, content: 'first spare/file' });
      });

      it('the base is known although the owner adds another file to the folder', () => {
        replace(agent('folder/file'), 'agent');
        writeFileSync(project('folder/beside'), 'owner');
        expect(base('folder/file')).toEqual({ known: true, content: 'first folder/file' });
      });

      it('the base of a file in a folder that the agent deleted is known although the owner adds another file', () => {
        rmSync(agent('folder'), { recursive: true });
        writeFileSync(project('folder/new'), 'owner');
        expect(base('folder/file')).toEqual({ known: true, content: 'first folder/file' });
      });

      it('the base of a file in a folder that the agent deleted is not known if the owner exchanges the folder', () => {
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

      it('are read from the project while it has them', () => {
        expect(only('large')).toMatchObject({ baseKnown: true, beforeContent: { at: 'tree', root: place.project } });
        expect(lstatSync(join(place.folder, 'base.log')).size).toBeLessThan(100_000);
      });

      it('are lost when the owner changes them, but their size is known', () => {
        appendFileSync(project('large'), 'owner');
        expect(only('large')).toMatchObject({
          baseKnown: true,
          before: { sizeBytes: largeBytes },
          beforeContent: { at: 'lost' },
        });
      });

      it('become the base without their content', () => {
        execFileSync('cp', [agent('large'), project('large')]);
        adoptAgentVersions(place, [only('large')], 'one');
        expect(list()).toEqual([]);
        appendFileSync(project('large'), 'owner');
        expect(list()).toEqual([]);
        appendFileSync(agent('large'), 'more');
        expect(only('large')).toMatchObject({ before: { sizeBytes: largeBytes + 5 }, beforeContent: { at: 'lost' } });
      });
    });

    describe('after an apply and its undo', () => {
      it('the changes of the apply are listed again', () => {
        writeFileSync(agent('file'), 'agent');
        keepBases(place);
        replace(project('file'), 'agent');
        adoptAgentVersions(place, [only('file')], 'one');
        expect(list()).toEqual([]);
        replace(project('file'), 'first file');
        voidApply(place, 'another');
        expect(list()).toEqual([]);
        voidApply(place, 'one');
        voidApply(place, 'one');
        expect(base('file')).toEqual({ known: true, content: 'first file' });
      });

      it('the changes of an apply are not listed while a later apply of the same path is in effect', () => {
        writeFileSync(agent('file'), 'agent');
        keepBases(place);
        adoptAgentVersions(place, list(), 'one');
        writeFileSync(agent('file'), 'agent again');
        adoptAgentVersions(place, list(), 'two');
        expect(list()).toEqual([]);
        voidApply(place, 'one');
        expect(list()).toEqual([]);
        voidApply(place, 'two');
        expect(base('file')).toEqual({ known: true, content: 'first file' });
      });

      it('the base of further changes is the applied version', () => {
        writeFileSync(agent('file'), 'agent');
        keepBases(place);
        adoptAgentVersions(place, list(), 'one');
        replace(project('file'), 'agent and owner');
        writeFileSync(agent('file'), 'agent again');
        keepBases(place);
        expect(base('file')).toEqual({ known: true, content: 'agent' });
      });

      it('a file that was added, applied and then deleted by the agent is listed as deleted', () => {
        writeFileSync(agent('new'), 'agent');
        adoptAgentVersions(place, list(), 'one');
        writeFileSync(project('new'), 'agent');
        unlinkSync(agent('new'));
        expect(only('new')).toMatchObject({ before: { type: 'file' }, after: null, baseKnown: true });
      });
    });
  });
}

/** Waits until the clock of file times has moved further than it may lag behind. */
export function waitForTicks(probe: string): void {
  const stamp = () => {
    writeFileSync(probe, 'x');
    return lstatSync(probe, { bigint: true }).mtimeNs;
  };
  const begin = stamp();
  while (stamp() < begin + 25_000_000n);
}
