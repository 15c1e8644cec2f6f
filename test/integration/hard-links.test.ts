/** Files of a project with several hard links, changed inside by one of them, while their owner goes on working. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { detachMount, mount } from '../../src/lib/sys/sys-mount.ts';
import { undoApply } from '../../src/noun/workspace/apply/undo.ts';
import { keepBases } from '../../src/noun/workspace/change/base/base.ts';
import { listChanges } from '../../src/noun/workspace/change/changes.ts';
import { discardChanges } from '../../src/noun/workspace/change/discard.ts';
import { foldIndex } from '../../src/noun/workspace/change/overlay/fold-index.ts';
import { hasIndex } from '../../src/noun/workspace/change/overlay/index-layer.ts';
import { copyState, restoreSnapshot, takeSnapshot } from '../../src/noun/workspace/snapshot/snapshot.ts';
import { restoreListedChanges, takeOver } from '../../src/noun/workspace/take-over.ts';
import { readContent } from '../../src/noun/workspace/tree/content.ts';
import type { WorkspacePlace } from '../../src/noun/workspace/workspace.ts';
import { waitForTicks } from '../conformance/workspace/live.ts';
import { isRealRoot } from '../harness/machine.ts';

describe.skipIf(!isRealRoot)('one file with several names', () => {
  let root: string;
  let place: WorkspacePlace;
  let inside: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'carrel-hard-links-'));
    inside = join(root, 'inside');
    place = placeOf('box');
    for (const path of [inside, join(place.project, 'd'), join(place.folder, 'upper'), join(place.folder, 'work')])
      mkdirSync(path, { recursive: true });
    writeFileSync(project('a'), 'old');
    for (const name of ['b', 'c', 'd/e']) linkSync(project('a'), project(name));
    waitForTicks(join(root, 'clock'));
    keepBases(place);
    enter();
  });
  afterEach(() => {
    detachMount(inside);
    execFileSync('rm', ['-rf', '--one-file-system', root]);
  });

  const project = (name: string) => join(root, 'project', name);
  const agent = (name: string) => join(inside, name);
  const placeOf = (name: string): WorkspacePlace => ({
    ...{ kind: 'overlay', live: true, marks: 'trusted', project: join(root, 'project'), base: join(root, 'project') },
    folder: join(root, name, 'state/workspace'),
  });
  function enter(at = place): void {
    foldIndex(at);
    const layers = `lowerdir=${at.base},upperdir=${at.folder}/upper,workdir=${at.folder}/work`;
    mount('carrel-test', inside, 'overlay', 0, `${layers},index=on,metacopy=off,redirect_dir=off`);
  }
  function again(meanwhile = () => {}): void {
    detachMount(inside);
    meanwhile();
    enter();
  }
  const listed = (at = place) => listChanges(at).changes.map(({ path }) => path);
  const seen = (...names: string[]) => names.map((name) => readFileSync(agent(name), 'utf8'));
  const all = ['a', 'b', 'c', 'd/e'];

  it('is changed under all of them, inside and in the list of changes, mounted or not', () => {
    writeFileSync(agent('b'), 'new');
    expect(seen(...all)).toEqual(Array(4).fill('new'));
    expect(listed()).toEqual(all);
    for (const { path, baseKnown, beforeContent, afterContent } of listChanges(place).changes) {
      expect(baseKnown).toBe(true);
      expect(readContent(beforeContent!, path, 10)?.toString()).toBe('old');
      expect(readContent(afterContent!, path, 10)?.toString()).toBe('new');
    }
    detachMount(inside);
    expect(listed()).toEqual(all);
    enter();
    expect(hasIndex(place)).toBe(false);
    expect(listed()).toEqual(all);
    writeFileSync(agent('d/e'), 'more');
    expect(seen(...all)).toEqual(Array(4).fill('more'));
  });

  it('stays changed under its other names when the name by which it was changed is deleted', () => {
    writeFileSync(agent('a'), 'new');
    unlinkSync(agent('a'));
    expect(listed()).toEqual(all);
    expect(listChanges(place).changes.every(({ baseKnown }) => baseKnown)).toBe(true);
    again();
    expect([listed(), seen('b', 'd/e')]).toEqual([all, ['new', 'new']]);
  });

  it('is hidden if its folder was deleted or replaced', () => {
    writeFileSync(agent('a'), 'new');
    rmSync(agent('d'), { recursive: true });
    mkdirSync(agent('d'));
    expect(listed()).toEqual(all);
    expect(listChanges(place).changes.find(({ path }) => path === 'd/e')?.after).toBeNull();
  });

  it.each<[string, () => void, string[], string[]]>([
    ['edits it in place', () => appendFileSync(project('c'), 'owner'), ['new', 'new', 'new', 'new'], all],
    [
      'replaces one name',
      () => {
        writeFileSync(project('.b'), 'owner');
        renameSync(project('.b'), project('b'));
      },
      ['new', 'owner', 'new', 'new'],
      ['a', 'c', 'd/e'],
    ],
    [
      'replaces the folder',
      () => {
        execFileSync('cp', ['-a', project(''), join(root, 'copy')]);
        execFileSync('rm', ['-r', project('')]);
        renameSync(join(root, 'copy'), join(root, 'project'));
      },
      ['new', 'old', 'old', 'old'],
      ['a'],
    ],
  ])('can be mounted after its owner %s, and the list matches what is seen inside', (_, act, content, paths) => {
    writeFileSync(agent('a'), 'new');
    keepBases(place);
    again(act);
    expect(seen(...all)).toEqual(content);
    expect(listed()).toEqual(paths);
    const [first] = listChanges(place).changes;
    expect(readContent(first!.beforeContent!, 'a', 10)?.toString()).toBe('old');
  });

  it('is copied into forks, and each fork has its own', async () => {
    writeFileSync(agent('a'), 'new');
    await copyState(join(root, 'box'), join(root, 'fork'));
    const fork = placeOf('fork');
    expect(listed(fork)).toEqual(all);
    detachMount(inside);
    enter(fork);
    writeFileSync(agent('c'), 'fork');
    expect(seen(...all)).toEqual(Array(4).fill('fork'));
    detachMount(inside);
    enter();
    expect(seen(...all)).toEqual(Array(4).fill('new'));
  });

  it('leaves the times of folders as they are, after a start, in forks and after a restore', async () => {
    const folders = ['d', '.'];
    for (const name of folders) utimesSync(project(name), 1, 981173106);
    again();
    appendFileSync(agent('a'), 'agent');
    for (const name of folders) utimesSync(agent(name), 1, 981173106);
    const times = () => folders.map((name) => statSync(agent(name)).mtimeMs);
    const before = times();
    expect(before).toEqual([981173106000, 981173106000]);
    again();
    expect(times()).toEqual(before);
    detachMount(inside);
    await copyState(join(root, 'box'), join(root, 'fork'));
    enter(placeOf('fork'));
    expect(times()).toEqual(before);
    detachMount(inside);
    const { id } = await takeSnapshot(join(root, 'box'), { label: null, at: 'now', auto: false });
    await restoreSnapshot(join(root, 'box'), id, 'now');
    enter();
    expect(times()).toEqual(before);
  });

  it('is discarded only under the requested name', () => {
    writeFileSync(agent('a'), 'new');
    detachMount(inside);
    expect(discardChanges(place, ['b'])).toEqual(['b']);
    enter();
    expect(seen(...all)).toEqual(['new', 'old', 'new', 'new']);
    detachMount(inside);
    expect(discardChanges(place, [])).toEqual(['a', 'c', 'd/e']);
    enter();
    expect([seen(...all), listed()]).toEqual([Array(4).fill('old'), []]);
  });

  it('is a file of its own under each name after an apply, and one file again after an undo', () => {
    writeFileSync(agent('a'), 'new');
    const journal = join(root, 'journal');
    const order = {
      sources: [{ sandbox: 'box', place }],
      project: place.project,
      options: { resolution: null, allow: [] },
    };
    expect(takeOver({ ...order, journal: null }).paths.map(({ path }) => path)).toEqual(all);
    takeOver({ ...order, journal });
    const inodes = () => new Set(all.map((name) => statSync(project(name)).ino)).size;
    expect([inodes(), readFileSync(project('d/e'), 'utf8'), listed()]).toEqual([4, 'new', []]);
    undoApply(journal);
    restoreListedChanges('journal', [place]);
    expect([inodes(), readFileSync(project('d/e'), 'utf8'), listed()]).toEqual([1, 'old', all]);
  });

  it('loses nothing when a crash interrupts the folding of the index', () => {
    writeFileSync(agent('a'), 'new');
    detachMount(inside);
    const module = JSON.stringify(join(process.cwd(), 'dist/noun/workspace/change/overlay/fold-index.js'));
    const script = `import { foldIndex } from ${module}; foldIndex(${JSON.stringify(place)});`;
    const env = { ...process.env, CARREL_CRASH_AT: 'fold:linked' };
    expect(spawnSync(process.execPath, ['--input-type=module', '-e', script], { env }).signal).toBe('SIGKILL');
    expect([hasIndex(place), listed()]).toEqual([true, all]);
    enter();
    expect([hasIndex(place), listed()]).toEqual([false, all]);
    expect(readdirSync(place.folder).sort()).toEqual(['base.log', 'upper', 'work']);
  });

  it('keeps its index while it is mounted', () => {
    writeFileSync(agent('a'), 'new');
    foldIndex(place);
    expect(hasIndex(place)).toBe(true);
    writeFileSync(agent('c'), 'more');
    expect(seen(...all)).toEqual(Array(4).fill('more'));
  });
});
