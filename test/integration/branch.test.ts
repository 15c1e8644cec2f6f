// @takes 25 s
/** Commits onto branches of real repositories. */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ownersScratch, scratchFolder, setScratch, sweepScratch } from '../../src/lib/file/scratch.ts';
import { detachMount, mount } from '../../src/lib/sys/sys-mount.ts';
import { fromText } from '../../src/model/byte-path.ts';
import { commitToBranch, openBranch } from '../../src/noun/workspace/git/branch/branch.ts';
import { branchEntries } from '../../src/noun/workspace/git/branch/branch-tree.ts';
import type { BranchChange } from '../../src/noun/workspace/git/branch/write-blobs.ts';
import { withOwnerFolder } from '../../src/noun/workspace/git/project-git.ts';
import { type Entry, gateKinds } from '../../src/noun/workspace/model/change.ts';
import { takeToBranch } from '../../src/noun/workspace/take-to-branch.ts';
import { otherUid, Repository } from '../harness/repository.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'carrel-branch-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));
// The owner of a project must be able to enter the folder.
chmodSync(root, 0o755);

const author = { name: 'Ann', email: 'ann@example.org' };
const message = 'Take it\n\nall';

function file(path: string, text: string | Buffer, mode = 0o644): BranchChange {
  const bytes = Buffer.from(text as string);
  const entry: Entry = { type: 'file', mode, sizeBytes: bytes.length, target: null };
  return { path: fromText(path), entry, content: { from: 'bytes', bytes } };
}

const link = (path: string, target: string): BranchChange => ({
  path,
  entry: { type: 'link', mode: 0, sizeBytes: 0, target },
  content: null,
});
const gone = (path: string): BranchChange => ({ path, entry: null, content: null });

async function commit(project: Repository, name: string, changes: readonly BranchChange[]) {
  return commitToBranch({ branch: await openBranch(project.path, name), message, author, changes });
}

describe('a commit', () => {
  it('makes a new branch from HEAD and leaves checkout and index alone, dirty as they are', async () => {
    const project = new Repository(root, { a: 'a\n', 'd/b': 'b\n', c: 'c\n' });
    writeFileSync(join(project.path, 'a'), 'staged\n');
    project.git('add', 'a');
    writeFileSync(join(project.path, 'a'), 'dirty\n');
    project.give(otherUid);
    const safe = ['-c', `safe.directory=${project.path}`];
    const before = [project.git(...safe, 'status', '--porcelain'), project.git(...safe, 'ls-files', '-s')];
    const large = Buffer.alloc(2 * 1024 ** 2, 'x');
    const done = await commit(project, 'topic/new', [
      file('a', 'new\n', 0o755),
      gone('d/b'),
      file('d', 'a file\n'),
      link('l', '../x'),
      file('tab\t"ü\n', '\0'),
      gone('c'),
      file('c/deep', large),
    ]);
    expect(project.git(...safe, 'rev-parse', 'topic/new')).toBe(done);
    expect(project.git(...safe, 'rev-parse', `${done}^`)).toBe(project.git(...safe, 'rev-parse', 'HEAD'));
    expect(project.git(...safe, 'log', '-1', '--format=%an|%ae|%cn|%B', done)).toBe(
      'Ann|ann@example.org|Ann|Take it\n\nall\n',
    );
    const tree = project
      .git(...safe, 'ls-tree', '-r', '-z', done)
      .split('\0')
      .filter(Boolean);
    expect(tree.map((line) => [line.slice(0, 6), line.split('\t').slice(1).join('\t')])).toEqual([
      ['100755', 'a'],
      ['100644', 'c/deep'],
      ['100644', 'd'],
      ['120000', 'l'],
      ['100644', 'tab\t"ü\n'],
    ]);
    expect(project.git(...safe, 'cat-file', '-s', `${done}:c/deep`)).toBe(`${large.length}`);
    expect([project.git(...safe, 'status', '--porcelain'), project.git(...safe, 'ls-files', '-s')]).toEqual(before);
    expect(project.git(...safe, 'fsck', '--strict')).toBe('');
    expect(statSync(join(project.path, '.git/refs/heads/topic/new')).uid).toBe(otherUid);
  });

  it('is added to an existing branch, and none is made when nothing changes', async () => {
    const project = new Repository(root);
    const one = await commit(project, 'topic', [file('b', 'b\n')]);
    const two = await commit(project, 'topic', [file('c', 'c\n')]);
    expect(project.git('rev-parse', 'topic^')).toBe(one);
    expect(await commit(project, 'topic', [file('c', 'c\n'), gone('not there')])).toBe(two);
    expect(project.git('ls-tree', '--name-only', 'topic')).toBe('a\nb\nc');
  });

  it('can be the first of a repository', async () => {
    const project = new Repository(root);
    project.git('update-ref', '-d', 'HEAD');
    const done = await commit(project, 'topic', [file('b', 'b\n')]);
    expect(project.git('log', '--format=%H %P', 'topic')).toBe(`${done} `);
    await expect(commit(project, 'main', [])).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('apply onto a branch refuses', () => {
  it.each(['', '-x', '@{-1}', 'a..b', 'a b', 'HEAD', 'x.lock', '../x', 'refs/\n'])('the name %j', async (name) => {
    const project = new Repository(root);
    await expect(openBranch(project.path, name)).rejects.toMatchObject({ code: 'invalid' });
  });

  it('a branch that is checked out, here or in another worktree', async () => {
    const project = new Repository(root);
    project.git('worktree', 'add', '-q', '-b', 'other', '../other');
    for (const name of ['main', 'other'])
      await expect(openBranch(project.path, name)).rejects.toMatchObject({ code: 'conflict' });
    await expect(openBranch(join(project.path, '../other'), 'main')).rejects.toMatchObject({ code: 'conflict' });
  });

  it('a branch that moved meanwhile, or stands in the way of another', async () => {
    const project = new Repository(root);
    const branch = await openBranch(project.path, 'topic');
    const first = await commit(project, 'topic', [file('b', 'b\n')]);
    const late = commitToBranch({ branch, message, author, changes: [file('c', 'c\n')] });
    await expect(late).rejects.toMatchObject({ code: 'conflict' });
    expect(project.git('rev-parse', 'topic')).toBe(first);
    await expect(commit(project, 'topic/x', [file('c', 'c\n')])).rejects.toMatchObject({ code: 'conflict' });
  });

  it('paths inside .git, and types that git cannot store', async () => {
    const project = new Repository(root);
    for (const path of ['.git/hooks/x', 'b/.GIT/config', '../x', 'x//y'])
      await expect(commit(project, 'topic', [file(path, 'x')])).rejects.toMatchObject({ code: 'invalid' });
    const fifo: BranchChange = {
      path: 'f',
      entry: { type: 'fifo', mode: 0, sizeBytes: 0, target: null },
      content: null,
    };
    await expect(commit(project, 'topic', [fifo])).rejects.toMatchObject({ code: 'invalid' });
    expect(project.git('branch', '--list', 'topic')).toBe('');
  });

  it('a change that would remove paths that it does not name', async () => {
    const project = new Repository(root, { a: 'a\n', 'd/b': 'b\n' });
    const oid = project.git('rev-parse', 'HEAD');
    project.git('update-index', '--add', '--cacheinfo', `160000,${oid},sub`);
    project.git('commit', '-q', '-m', 'submodule');
    for (const change of [file('a/x', 'x'), file('d', 'x'), file('sub/x', 'x'), gone('sub/x'), file('sub', 'x')])
      await expect(commit(project, 'topic', [change])).rejects.toMatchObject({ code: 'conflict' });
  });

  it('a project without a repository, and an empty message', async () => {
    const project = new Repository(root);
    await expect(openBranch(join(project.path, '..'), 'topic')).rejects.toMatchObject({ code: 'unsupported' });
    const branch = await openBranch(project.path, 'topic');
    for (const text of [' \n', 'a\0b'])
      await expect(commitToBranch({ branch, message: text, author, changes: [] })).rejects.toMatchObject({
        code: 'invalid',
      });
  });
});

it.each([
  ['at once', undefined],
  ['in portions', 1],
])('the entries of a branch are listed with type, mode, target and content, read %s', async (_, atOnceBytes) => {
  const project = new Repository(root, { a: 'a\n', 'd/b': 'b\n', 'd/c': 'b\n', big: 'x'.repeat(100) });
  await commit(project, 'topic', [file('run', 'r', 0o755), link('l', 'to\nwhere'), file('a', 'on the branch\n')]);
  const toldOf = async (name: string, ...paths: string[]) => {
    const told: Record<string, unknown[]> = {};
    const entries = branchEntries(await openBranch(project.path, name), paths, 50, atOnceBytes);
    for await (const [path, { entry, content }] of entries)
      told[path] = [entry.type, entry.mode, entry.target, content?.toString()];
    return told;
  };
  expect(await toldOf('topic', 'a', 'd', 'd/b', 'd/c', 'big', 'run', 'l', 'no')).toEqual({
    a: ['file', 0o644, null, 'on the branch\n'],
    d: ['folder', 0o755, null, undefined],
    'd/b': ['file', 0o644, null, 'b\n'],
    'd/c': ['file', 0o644, null, 'b\n'],
    big: ['file', 0o644, null, undefined],
    run: ['file', 0o755, null, 'r'],
    l: ['link', 0, 'to\nwhere', undefined],
  });
  expect(await toldOf('new', 'a')).toEqual({ a: ['file', 0o644, null, 'a\n'] });
});

async function takenAfter(files: Record<string, string | Buffer>, act: (tree: string) => void, allow = [...gateKinds]) {
  const project = new Repository(root, files);
  const folder = mkdtempSync(join(root, 'workspace-'));
  cpSync(project.path, join(folder, 'tree'), { recursive: true });
  act(join(folder, 'tree'));
  const taken = await takeToBranch({
    ignored: false,
    sources: [
      {
        sandbox: 'ada',
        place: { kind: 'copy', project: project.path, base: project.path, live: false, marks: 'user', folder },
      },
    ],
    project: project.path,
    options: { resolution: null, allow },
    branch: 'topic',
    message,
    author,
    scratch: mkdtempSync(join(root, 'scratch-')),
    dryRun: false,
  });
  const listed = project.git('ls-tree', '-r', taken.commit!).split('\n');
  return { taken, project, tree: listed.map((line) => `${line.slice(0, 6)} ${line.split('\t')[1]}`) };
}

it('changes inside .git are left out of a branch, without a gate', async () => {
  const { taken, tree } = await takenAfter(
    { a: 'a\n' },
    (at) => {
      writeFileSync(join(at, 'a'), 'b\n');
      writeFileSync(join(at, '.git/config'), '[user]\n\tname = agent\n');
      writeFileSync(join(at, '.git/hooks/pre-commit'), 'evil\n', { mode: 0o755 });
      mkdirSync(join(at, 'sub'));
      writeFileSync(join(at, 'sub/.GIT'), 'gitdir: /elsewhere\n');
    },
    [],
  );
  expect(taken.paths.map(({ path, outcome, conflict }) => [path, outcome, conflict])).toEqual([
    ['.git/config', 'left', null],
    ['.git/hooks/pre-commit', 'left', null],
    ['a', 'take', null],
    ['sub/.GIT', 'left', null],
  ]);
  expect(tree).toEqual(['100644 a']);
});

it('a file that is too large for memory keeps its content when only its mode changes', async () => {
  const big = Buffer.alloc(65 * 1024 ** 2);
  big.write('not empty');
  const { taken, project } = await takenAfter({ big }, (at) => chmodSync(join(at, 'big'), 0o755));
  expect(taken.paths.map(({ path, outcome }) => [path, outcome])).toEqual([['big', 'take']]);
  const sizes = (commit: string) => project.git('ls-tree', '-l', commit, 'big').split(/\s+/);
  expect(sizes(taken.commit!).slice(0, 4)).toEqual(['100755', ...sizes('HEAD').slice(1, 4)]);
});

describe('a branch gets the link and not the files below it if an agent has made a folder a link', () => {
  const treeAfter = async (files: Record<string, string>, act: (tree: string) => void) =>
    (await takenAfter(files, act)).tree;

  it('to the place in the project where it moved the folder', async () => {
    const tree = await treeAfter({ 'lib/x': 'x\n', 'lib/y': 'y\n' }, (at) => {
      renameSync(join(at, 'lib'), join(at, 'lib2'));
      symlinkSync('lib2', join(at, 'lib'));
    });
    expect(tree).toEqual(['120000 lib', '100644 lib2/x', '100644 lib2/y']);
  });

  it('to a folder outside of the project, where files have the same names', async () => {
    const outside = mkdtempSync(join(root, 'outside-'));
    writeFileSync(join(outside, 'passwd'), 'of the host');
    const tree = await treeAfter({ 'lib/passwd': 'x\n' }, (at) => {
      rmSync(join(at, 'lib'), { recursive: true });
      symlinkSync(outside, join(at, 'lib'));
    });
    expect(tree).toEqual(['120000 lib']);
  });
});

describe('a disk that becomes full', () => {
  it('while a commit is made: the commit fails, and nothing of it is left in the repository', async () => {
    const disk = mkdtempSync(join(root, 'disk-'));
    mount('carrel-test', disk, 'tmpfs', 0, 'size=6m,mode=755');
    try {
      const project = new Repository(disk, { a: 'a\n' });
      project.give(otherUid);
      const before = project.state();
      const large = ['one', 'two', 'three'].map((name) => file(name, randomBytes(3 * 1024 * 1024)));
      await expect(commit(project, 'full', large)).rejects.toMatchObject({ code: 'exhausted' });
      expect(project.state()).toBe(before);
      await commit(project, 'full', [file('one', randomBytes(1024 * 1024))]);
      expect(project.git('-c', `safe.directory=${project.path}`, 'ls-tree', '--name-only', 'full')).toBe('a\none');
    } finally {
      detachMount(disk);
    }
  });
});

it('a commit that cannot become the tip of its branch leaves nothing in the repository', async () => {
  const project = new Repository(root);
  const branch = await openBranch(project.path, 'late');
  project.git('branch', 'late');
  const before = project.state();
  const refused = commitToBranch({ branch, message, author, changes: [file('new', 'new\n')] });
  await expect(refused).rejects.toMatchObject({ code: 'conflict' });
  expect(project.state()).toBe(before);
});

describe('temporary folders of a call', () => {
  it('are in the configured place, and a sweep removes those that a crash left', async () => {
    const own = mkdtempSync(join(root, 'own-'));
    setScratch(own, 'abc123');
    expect(scratchFolder()).toBe(own);
    const git = { cwd: '/', args: [], env: {} };
    await withOwnerFolder(git, async (folder) => expect(folder.startsWith(ownersScratch())).toBe(true));
    const left = mkdtempSync(ownersScratch());
    mkdirSync(join(left, 'objects'));
    const other = mkdtempSync(join(tmpdir(), 'carrel-git-other-'));
    await sweepScratch('abc123');
    expect([existsSync(left), existsSync(other)]).toEqual([false, true]);
    rmSync(other, { recursive: true });
  });
});
