/** Folders that git ignores as a whole are counted instead of listed, with the same result. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { fromText, toBytes } from '../../src/model/byte-path.ts';
import { adoptAgentVersions } from '../../src/noun/workspace/change/base/base.ts';
import { listChanges } from '../../src/noun/workspace/change/changes.ts';
import { inReadFolder, withOwnerFolder, withReadFolder } from '../../src/noun/workspace/git/project-git.ts';
import { ignoredPaths, split, unskipped } from '../../src/noun/workspace/ignored.ts';
import { IgnoredFolders } from '../../src/noun/workspace/ignored-folders.ts';
import type { WorkspacePlace } from '../../src/noun/workspace/workspace.ts';
import { put } from '../harness/working-copy.ts';

const root = mkdtempSync(join(tmpdir(), 'carrel-ignored-folders-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A workspace without a mount, since a list of changes reads the upper layer alone. */
function workspace(files: Record<string, string>, agents: Record<string, string>): WorkspacePlace {
  const folder = mkdtempSync(join(root, 'case-'));
  const project = join(folder, 'project');
  for (const name of ['project', 'upper']) mkdirSync(join(folder, name));
  put(project, files);
  put(join(folder, 'upper'), agents);
  return { kind: 'overlay', project, base: project, live: false, marks: 'user', folder };
}

const git = (place: WorkspacePlace, ...args: string[]) => execFileSync('git', ['-C', place.project, ...args]);

/** Eight files in two folders. */
function many(folder: string): Record<string, string> {
  return Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`${folder}/p${n % 2}/f${n}`, '']));
}

async function reviewed(place: WorkspacePlace, skipping?: IgnoredFolders) {
  const listed = listChanges(place, skipping);
  const { changes, ignored } = split(
    listed.changes,
    await ignoredPaths(place.project, unskipped(listed)),
    listed.skipped,
  );
  return { shown: changes.map(({ path }) => path), ...ignored, places: [...ignored.places].sort() };
}

const limits = { few: 4, counted: 100 };

describe('a review that skips ignored folders equals one that walks them', () => {
  it.each<[string, Record<string, string>, Record<string, string>, string[]]>([
    ['a rule of the project', { '.gitignore': 'node_modules\n' }, { ...many('node_modules'), a: '' }, ['node_modules']],
    ['a rule that the agent wrote', {}, { ...many('out'), '.gitignore': 'out/\n' }, ['out']],
    [
      'a rule in a folder of the project',
      { 'a/.gitignore': '/dist\n', 'a/x': '' },
      { ...many('a/dist'), ...many('dist') },
      ['a/dist'],
    ],
    [
      'folders in a new folder that is not ignored',
      { '.gitignore': 'node_modules/\n' },
      { ...many('web/one/node_modules'), ...many('web/two/node_modules'), ...many('web/src') },
      ['web/one/node_modules', 'web/two/node_modules'],
    ],
    ['a rule with an exception', { '.gitignore': 'out/*\n!out/p1\n' }, many('out'), []],
    ['an exception that has no effect', { '.gitignore': 'out/\n!out/p1/f1\n' }, many('out'), ['out']],
    ['few files', { '.gitignore': 'out/\n' }, { 'out/a': '', 'out/b': '' }, []],
    ['no rule', { x: '' }, many('out'), []],
  ])('%s', async (_, files, agents, expected) => {
    const place = workspace(files, agents);
    git(place, 'init', '--quiet');
    const skipping = new IgnoredFolders(place, limits);
    expect(await reviewed(place, skipping)).toEqual(await reviewed(place));
    expect(skipping.found.map(({ path }) => path).sort()).toEqual(expected);
  });
});

it('a folder in which the index has a file is walked, and that file is shown', async () => {
  const place = workspace({ '.gitignore': 'out/\n', 'out/p0/f0': 'old' }, { ...many('out'), 'out/p0/f0': 'new' });
  git(place, 'init', '--quiet');
  git(place, 'add', '--force', 'out/p0/f0');
  rmSync(join(place.project, 'out'), { recursive: true });
  const skipping = new IgnoredFolders(place, limits);
  const found = await reviewed(place, skipping);
  expect([skipping.found, found.shown]).toEqual([[], ['out', 'out/p0', 'out/p0/f0']]);
  expect(found).toEqual(await reviewed(place));
});

it.each([2, 4])('a folder in which the index has a file is walked if the index has version %i', async (version) => {
  const place = workspace(
    { '.gitignore': 'out/\n', 'out-a': '', 'out/p0/f0': 'old' },
    { ...many('out'), 'out/p0/f0': 'new' },
  );
  git(place, 'init', '--quiet');
  git(place, 'add', '--force', 'out/p0/f0', 'out-a');
  // Version 4 leaves out what a path has in common with the one before it.
  git(place, 'update-index', '--index-version', String(version));
  rmSync(join(place.project, 'out'), { recursive: true });
  const skipping = new IgnoredFolders(place, limits);
  expect((await reviewed(place, skipping)).shown).toEqual(['out', 'out/p0', 'out/p0/f0']);
  expect(skipping.found).toEqual([]);
});

it('a folder in which the index has a file is walked if the index is split', async () => {
  const place = workspace({ '.gitignore': 'out/\n', 'out/p0/f0': 'old' }, { ...many('out'), 'out/p0/f0': 'new' });
  git(place, 'init', '--quiet');
  git(place, 'add', '--force', 'out/p0/f0');
  git(place, 'update-index', '--split-index');
  rmSync(join(place.project, 'out'), { recursive: true });
  const skipping = new IgnoredFolders(place, limits);
  await reviewed(place, skipping);
  expect(skipping.found).toEqual([]);
});

it('a folder that the base has is walked', async () => {
  const place = workspace({ '.gitignore': 'out/\n', 'out/kept': 'old' }, { ...many('out'), 'out/kept': 'new' });
  git(place, 'init', '--quiet');
  const skipping = new IgnoredFolders(place, limits);
  await reviewed(place, skipping);
  expect(skipping.found).toEqual([]);
});

it('a folder that was applied is walked, and its files do not count as deleted by the agent', async () => {
  const own = workspace({}, { ...many('out'), '.gitignore': 'out/\n' });
  // A base of its own, as a sandbox without a live base has it.
  const place = { ...own, base: mkdtempSync(join(root, 'base-')) };
  git(place, 'init', '--quiet');
  adoptAgentVersions(place, listChanges(place).changes, 'apply-1');
  // The owner took it over, and does not ignore it any more.
  put(place.project, { ...many('out'), '.gitignore': '' });
  const skipping = new IgnoredFolders(place, limits);
  expect(listChanges(place, skipping).changes).toEqual([]);
  expect(await reviewed(place, skipping)).toMatchObject({ shown: [], files: 0 });
  expect(skipping.found).toEqual([]);
});

it('without a repository no folder is skipped', async () => {
  const place = workspace({ '.gitignore': 'out/\n' }, many('out'));
  expect(await reviewed(place, new IgnoredFolders(place, limits))).toMatchObject({ files: 0, more: false });
});

it('a folder whose name is not text is walked', () => {
  const place = workspace({ '.gitignore': '*\n' }, {});
  git(place, 'init', '--quiet');
  const folder = Buffer.concat([Buffer.from(`${place.folder}/upper/`), toBytes('\xff')]);
  for (let n = 0; n < 8; n += 1) mkdirSync(Buffer.concat([folder, Buffer.from(`/${n}`)]), { recursive: true });
  const skipping = new IgnoredFolders(place, limits);
  expect(listChanges(place, skipping).changes.length).toBe(9);
  expect(skipping.found).toEqual([]);
});

it('the files of a skipped folder are counted up to the limit', async () => {
  const place = workspace({ '.gitignore': 'out/\n' }, many('out'));
  git(place, 'init', '--quiet');
  const counted = async (limit: number) => reviewed(place, new IgnoredFolders(place, { few: 4, counted: limit }));
  expect(await counted(7)).toMatchObject({ files: 7, more: true, places: [fromText('out/')] });
  expect(await counted(8)).toMatchObject({ files: 8, more: false });
});

describe('a project of another account', () => {
  const owner = { uid: 12345, gid: 12346 };

  it('has its rules and those of the agent applied', async () => {
    const place = workspace({ '.gitignore': 'out/\n' }, { ...many('out'), 'b.log': '', '.gitignore': '*.log\n' });
    git(place, 'init', '--quiet');
    execFileSync('chown', ['-R', `${owner.uid}:${owner.gid}`, place.project]);
    chmodSync(root, 0o755);
    chmodSync(place.folder, 0o755);
    const skipping = new IgnoredFolders(place, limits);
    expect(await reviewed(place, skipping)).toMatchObject({ shown: ['.gitignore'], places: ['b.log', 'out/'] });
    expect(skipping.found).toHaveLength(1);
  });

  it('does not let its owner put a link into the folder in which the daemon writes rules', async () => {
    const target = join(root, 'of-root');
    const plant = (folder: string) =>
      spawnSync('ln', ['-s', target, join(folder, 'rules')], { ...owner, cwd: '/' }).status !== 0;
    const asOwner = { cwd: root, args: [], env: {}, ...owner };
    expect(inReadFolder(asOwner, plant)).toBe(true);
    expect(await withReadFolder(asOwner, async (folder) => plant(folder))).toBe(true);
    // Only what git itself writes goes into a folder of the owner.
    expect(await withOwnerFolder(asOwner, async (folder) => plant(folder))).toBe(false);
  });
});
