/** Working copies of git repositories: clones, agents' commits, commits onto branches, patches. */
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation } from '../harness/installation.ts';
import { isRealRoot } from '../harness/machine.ts';
import { agent, apply, changesOf, numbers, outcomes, Project, stateOf, ways } from '../harness/project.ts';
import { createRootlessAccount, type RootlessAccount } from '../harness/rootless.ts';

/** Environment of an agent's own git commands. */
const asAgent = 'export GIT_AUTHOR_NAME=Agent GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=Agent GIT_COMMITTER_EMAIL=a@b; ';
/** As root, projects belong to another account. */
const otherUid = 12_345;

describe.each(ways)('as %s', (way) => {
  let account: RootlessAccount | null;
  let carrel: Installation;

  beforeAll(() => {
    account = way === 'rootless' && isRealRoot ? createRootlessAccount() : null;
    carrel = new Installation(account);
  });
  afterAll(async () => {
    await carrel.dispose();
    account?.dispose();
  });

  function folder(name: string): string {
    const path = carrel.folder(name);
    if (way === 'root') chownSync(path, otherUid, otherUid);
    return path;
  }

  /** Makes a repository with one commit on main. */
  function repository(name: string): Project {
    const project = new Project(folder(name), {
      'a.txt': numbers(1, 20),
      'keep.txt': 'kept\n',
      'src/main.ts': numbers(1, 30),
      '.gitignore': 'out/\n',
    });
    project.git('init', '-q');
    commit(project, 'first');
    return project;
  }
  function commit(project: Project, message: string): string {
    project.git('add', '-A');
    project.git('commit', '-q', '--allow-empty', '-m', message);
    return project.git('rev-parse', 'HEAD');
  }

  it('git commit inside uses the owner’s name, unless the agent or the project sets another', async () => {
    carrel.write('home/.gitconfig', '[user]\n\tname = Ada \\"L\\" Love\n\temail = ada@example.org\n');
    const project = repository('identity');
    const told = 'git commit -q --allow-empty -m x && git log -1 --format="%an <%ae> %cn"';
    expect(await carrel.ok('run', project.path, '--', 'sh', '-c', told)).toBe(
      'Ada "L" Love <ada@example.org> Ada "L" Love\n',
    );
    await carrel.ok('create', '--name', 'who', project.path);
    expect(await carrel.ok('exec', 'who', '--', 'sh', '-c', told)).toBe(
      'Ada "L" Love <ada@example.org> Ada "L" Love\n',
    );
    const own = `git config --global user.name Agent; ${told}`;
    expect(await carrel.ok('exec', 'who', '--', 'sh', '-c', own)).toBe('Agent <ada@example.org> Agent\n');
    project.git('config', 'user.name', 'Of the project');
    const kept = 'Of the project <ada@example.org> Of the project\n';
    expect(await carrel.ok('run', project.path, '--', 'sh', '-c', told)).toBe(kept);
    await carrel.clear();
  });

  const ofOthers = (project: Project) =>
    execFileSync('find', [project.path, '!', '-uid', `${project.owner.uid}`]).toString();
  /** The owner's checkout, byte for byte: files, index and HEAD. */
  const checkout = (project: Project) =>
    [
      ...stateOf(project.path)
        .split('\n')
        .filter((line) => !/(?:^|\.\/)\.git\//.test(line) || /\.git\/(?:index|HEAD|refs\/heads\/main)$/.test(line)),
    ].join('\n');

  describe('a clone', () => {
    it('is on a branch of its own, without what the owner has not committed', async () => {
      const project = repository('clone');
      project.put('a.txt', 'dirty\n');
      project.put('untracked', 'x\n');
      await carrel.ok('create', '--mode', 'clone', '--name', 'clone', project.path);
      expect(await agent(carrel, 'clone', 'git branch --show-current; head -1 a.txt; ls; git status --porcelain')).toBe(
        'carrel/clone\nline 1\na.txt\nkeep.txt\nsrc\n',
      );
      expect((await carrel.show('clone')).workspace).toEqual({ kind: 'overlay', base: 'clone' });
      await agent(carrel, 'clone', `${asAgent} echo n > new; rm keep.txt; git add -A; git commit -qm 'by the agent'`);
      const done = await apply(carrel, 'clone');
      expect(outcomes(done)).toEqual(['take keep.txt', 'take new']);
      const ref = 'refs/carrel/clone/heads/carrel/clone';
      expect(done.commits).toMatchObject([{ sandbox: 'clone', ref, subject: 'by the agent', ahead: 1 }]);
      expect(project.git('show', '--format=%s', '--name-status', ref)).toBe('by the agent\n\nD\tkeep.txt\nA\tnew');
      expect([project.read('a.txt'), project.read('new'), project.read('untracked')]).toEqual([
        'dirty\n',
        'n\n',
        'x\n',
      ]);
      expect(ofOthers(project)).toBe('');
      await carrel.ok('rm', '--force', 'clone');
    });

    it('keeps what its agent sets in its own repository', async () => {
      const project = repository('settings');
      await carrel.ok('create', '--mode', 'clone', '--name', 'settings', project.path);
      await agent(carrel, 'settings', 'git config user.name Agent; echo x > .git/hooks/post-commit; echo n > new');
      expect(await changesOf(carrel, 'settings')).toEqual(['A new']);
      const before = project.read('.git/config');
      expect(outcomes(await apply(carrel, 'settings'))).toEqual(['take new']);
      expect(project.read('.git/config')).toBe(before);
      expect(await agent(carrel, 'settings', 'git config user.name')).toBe('Agent\n');
      await carrel.ok('rm', '--force', 'settings');
    });

    it('gates hooks in core.hooksPath of the project, and a link that leads out through another', async () => {
      const project = repository('named');
      project.git('config', 'core.hooksPath', 'tools/hooks');
      execFileSync('ln', ['-s', '/opt', join(project.path, 'vendor')]);
      await carrel.ok('create', '--name', 'named', project.path);
      await agent(
        carrel,
        'named',
        'mkdir -p tools/hooks; echo x > tools/hooks/pre-commit; ln -s vendor/lib lib; ln -s src in',
      );
      const held = await apply(carrel, 'named', '--leave');
      expect(held.paths.map(({ path, gates }) => `${path} ${gates}`)).toEqual([
        'in ',
        'lib symlink',
        'tools ',
        'tools/hooks ',
        'tools/hooks/pre-commit git-hooks',
      ]);
      expect([existsSync(join(project.path, 'tools/hooks/pre-commit')), existsSync(join(project.path, 'in'))]).toEqual([
        false,
        true,
      ]);
      await carrel.ok('rm', '--force', 'named');
    });

    it('shares its base with its forks, and the base is removed with the last of them', async () => {
      const project = repository('forked');
      const bases = () => readdirSync(join(carrel.home, 'bases')).length;
      await carrel.ok('create', '--mode', 'clone', '--name', 'first', project.path);
      expect(bases()).toBe(1);
      await carrel.ok('fork', 'first', 'second');
      expect(bases()).toBe(1);
      await carrel.ok('rm', '--force', 'first');
      await carrel.ok('start', 'second');
      expect(await agent(carrel, 'second', 'head -1 a.txt; git branch --show-current')).toBe('line 1\ncarrel/first\n');
      expect(bases()).toBe(1);
      await carrel.ok('rm', '--force', 'second');
      expect(bases()).toBe(0);
    });

    it('needs a repository with a commit', async () => {
      const empty = new Project(folder('empty'));
      for (const prepare of [() => {}, () => empty.git('init', '-q')]) {
        prepare();
        const { exitCode, stderr } = await carrel.run(['create', '--mode', 'clone', '--name', 'no', empty.path]);
        expect(stderr).toMatch(/cannot be cloned|no commit/);
        expect(exitCode).toBe(2);
      }
      await carrel.run(['rm', '--force', 'no']);
    });
  });

  describe('the commits of an agent', () => {
    it('arrive as refs of their own, from a running and from an ended sandbox', async () => {
      const project = repository('commits');
      await carrel.ok('create', '--name', 'commits', project.path);
      const before = checkout(project);
      const script = `${asAgent} git checkout -qb work; echo one > one; git add one; git commit -qm one; git checkout -q main`;
      await agent(carrel, 'commits', script);
      const ref = 'refs/carrel/commits/heads/work';
      // The file is not in the agent's checkout any more, so only its commit arrives.
      expect((await apply(carrel, 'commits')).commits).toMatchObject([{ ref, subject: 'one', ahead: 1 }]);
      expect(checkout(project)).toBe(before);
      expect(project.git('show', `${ref}:one`)).toBe('one');
      await agent(
        carrel,
        'commits',
        `${asAgent} git checkout -q work; echo two > one; git commit -qam two; git checkout -q main`,
      );
      await carrel.ok('stop', '--grace', '0', 'commits');
      expect((await apply(carrel, 'commits')).commits).toMatchObject([{ ref, subject: 'two', ahead: 2 }]);
      expect(project.git('show', `${ref}:one`)).toBe('two');
      expect((await carrel.show('commits')).state).toBe('stopped');
      expect(project.git('fsck', '--strict')).toBe('');
      expect(ofOthers(project)).toBe('');
      await carrel.ok('rm', '--force', 'commits');
    });

    it('arrive in a repository without commits', async () => {
      const project = new Project(folder('unborn'), { a: 'a\n' });
      project.git('init', '-q');
      await carrel.ok('create', '--name', 'unborn', project.path);
      await agent(carrel, 'unborn', `${asAgent} echo b > b; git add -A; git commit -qm root`);
      const done = await apply(carrel, 'unborn');
      expect(done.warnings).toEqual([]);
      expect(done.commits).toMatchObject([{ ref: 'refs/carrel/unborn/heads/main', subject: 'root', ahead: 1 }]);
      expect(project.read('b')).toBe('b\n');
      expect(project.git('ls-tree', '--name-only', 'refs/carrel/unborn/heads/main')).toBe('a\nb');
      await agent(carrel, 'unborn', 'echo c > c');
      const { branch } = await apply(carrel, 'unborn', '--branch', 'begun', '-m', 'begin');
      expect(project.git('log', '--format=%H %s', 'begun')).toBe(`${branch!.commit} begin`);
      expect(ofOthers(project)).toBe('');
      await carrel.ok('rm', '--force', 'unborn');
    });
  });

  describe('an apply onto a branch', () => {
    let project: Project;
    beforeAll(async () => {
      project = repository('branches');
      await carrel.ok('create', '--name', 'branches', project.path);
      await agent(
        carrel,
        'branches',
        "sed -i '1s/.*/agent/' a.txt; rm keep.txt; mkdir out; echo o > out/o; echo n > new; ln -s a.txt link",
      );
    });

    it('that is new commits all changes except ignored files, and leaves the checkout unchanged', async () => {
      const before = checkout(project);
      const main = project.git('rev-parse', 'main');
      const done = await apply(carrel, 'branches', '--branch', 'fresh', '-m', 'Take over\n\nWith a body.');
      expect(outcomes(done)).toEqual(['take a.txt', 'take keep.txt', 'take link', 'take new']);
      expect(checkout(project)).toBe(before);
      expect(project.git('rev-parse', 'fresh')).toBe(done.branch!.commit);
      expect(project.git('rev-parse', 'fresh^')).toBe(main);
      expect(project.git('log', '-1', '--format=%B', 'fresh')).toBe('Take over\n\nWith a body.\n');
      expect(project.git('diff', '--name-status', 'main', 'fresh')).toBe('M\ta.txt\nD\tkeep.txt\nA\tlink\nA\tnew');
      expect(ofOthers(project)).toBe('');
      expect(await changesOf(carrel, 'branches')).toContain('A new');
    });

    it('that has moved on merges the changes', async () => {
      const tree = join(carrel.folder(`tree-${way}`), 'tree');
      chownSync(dirname(tree), project.owner.uid, project.owner.gid);
      project.git('worktree', 'add', '-q', '-b', 'moved', tree, 'main');
      const moved = new Project(tree);
      moved.put('a.txt', `${numbers(1, 19)}owner\n`);
      commit(moved, 'moved on');
      const refused = await carrel.run(['apply', 'branches', '--branch', 'moved', '-m', 'x']);
      expect(refused.stderr).toContain('checked out');
      expect(refused.exitCode).toBe(6);
      project.git('worktree', 'remove', tree);
      const done = await apply(carrel, 'branches', '--branch', 'moved', '-m', 'merged');
      expect(outcomes(done)).toContain('merge a.txt');
      expect(project.git('show', 'moved:a.txt')).toBe(`agent\n${numbers(2, 19)}owner`);
      expect(project.git('log', '--format=%s', 'moved')).toBe('merged\nmoved on\nfirst');
    });

    it('that changed the same lines is a conflict, and leaves the branch unchanged', async () => {
      const blob = project.feed(`other\n${numbers(2, 20)}`, 'hash-object', '-w', '--stdin');
      const entries = project.git('ls-tree', '-r', 'main').replace(/[0-9a-f]{40}(?=\ta\.txt)/, blob);
      const index = { GIT_INDEX_FILE: join(project.path, '.git/other') };
      const tree = execFileSync('sh', ['-c', 'git update-index --index-info && git write-tree'], {
        ...{ cwd: project.path, input: `${entries}\n`, encoding: 'utf8', ...project.owner },
        env: { PATH: process.env.PATH, ...index },
      }).trim();
      const tip = project.git('commit-tree', tree, '-p', 'main', '-m', 'other');
      project.git('branch', 'clash', tip);
      const before = stateOf(project.path);
      const done = await apply(carrel, 'branches', '--branch', 'clash', '-m', 'x');
      expect([done.exitCode, done.blocked, done.branch]).toEqual([6, 'conflict', null]);
      expect(outcomes(done)).toContain('conflict a.txt');
      expect(project.git('rev-parse', 'clash')).toBe(tip);
      expect(stateOf(project.path)).toBe(before);
      const theirs = await apply(carrel, 'branches', '--branch', 'clash', '-m', 'x', '--theirs');
      expect(theirs.exitCode).toBe(0);
      expect(project.git('show', 'clash:a.txt')).toBe(`agent\n${numbers(2, 20).trimEnd()}`);
    });

    it.each([
      ['main', 6, 'checked out'],
      ['no such', 2, 'not a name'],
      ['../../x', 2, 'not a name'],
      ['-f', 2, ''],
      ['@{-1}', 2, 'not a name'],
    ])('%j is refused, and nothing is written', async (name, code, words) => {
      const before = stateOf(project.path);
      const { exitCode, stderr } = await carrel.run(['apply', 'branches', `--branch=${name}`, '-m', 'x']);
      expect(stderr).toContain(words);
      expect(exitCode).toBe(code);
      expect(stateOf(project.path)).toBe(before);
    });
  });

  it('git am of a patch makes the tree that the agent has', async () => {
    const project = repository('patched');
    project.put('binary', Buffer.from(Array.from({ length: 5000 }, (_, n) => (n * 7) % 256)));
    project.put('crlf.txt', 'a\r\nb\r\n');
    commit(project, 'second');
    await carrel.ok('create', '--name', 'patched', project.path);
    const script = [
      "sed -i '3s/.*/agent/' a.txt; git mv src/main.ts src/other.ts; rm keep.txt; ln -s a.txt link",
      "printf 'no end' > 'a name with spaces'; printf x >> binary; printf 'c\\r\\n' >> crlf.txt",
      "echo run > run; chmod +x run; printf 'From me\\n' > 'über'; : > empty",
      'git add -A; git write-tree',
    ].join('; ');
    const tree = (await agent(carrel, 'patched', script)).trim();
    const target = new Project(folder('target'));
    execFileSync('git', ['clone', '-q', project.path, '.'], {
      ...{ cwd: target.path, env: { PATH: process.env.PATH }, ...target.owner },
    });
    const { stdout, exitCode } = await carrel.run(['patch', 'patched', '-m', 'From an agent']);
    expect(exitCode).toBe(0);
    target.feed(stdout, 'am', '-q', '--keep-cr');
    expect(target.git('rev-parse', 'HEAD^{tree}')).toBe(tree);
    expect(target.git('log', '-1', '--format=%s')).toBe('From an agent');
    await carrel.ok('rm', '--force', 'patched');
  });

  it('a worktree of a repository elsewhere keeps its .git, and takes commits onto branches', async () => {
    const main = repository('whole');
    const path = join(folder('linked'), 'tree');
    main.git('worktree', 'add', '-q', '-b', 'side', path);
    const project = new Project(path);
    const link = readFileSync(project.at('.git'), 'utf8');
    await carrel.ok('create', '--name', 'linked', project.path);
    await agent(carrel, 'linked', 'echo n > new');
    expect(outcomes(await apply(carrel, 'linked', '--branch', 'taken', '-m', 'taken'))).toEqual(['take new']);
    expect(main.git('show', '--format=%s', '--name-status', 'taken')).toBe('taken\n\nA\tnew');
    expect((await carrel.run(['apply', 'linked', '--branch', 'side', '-m', 'x'])).exitCode).toBe(6);
    await agent(carrel, 'linked', 'rm .git; git init -q; git config core.fsmonitor /bin/false');
    const held = await apply(carrel, 'linked');
    expect(held.blocked).not.toBeNull();
    expect(held.paths[0]).toMatchObject({ path: '.git', outcome: 'gated', gates: ['git-config'] });
    await apply(carrel, 'linked', '--leave');
    expect(project.read('new')).toBe('n\n');
    expect(readFileSync(project.at('.git'), 'utf8')).toBe(link);
    expect(ofOthers(main)).toBe('');
    await carrel.ok('rm', '--force', 'linked');
  });

  it('a project without git supports everything except branches', async () => {
    const project = new Project(folder('plain'), { a: 'a\n' });
    await carrel.ok('create', '--name', 'plain', project.path);
    await agent(carrel, 'plain', `${asAgent} echo b > a; git init -q sub; cd sub; git commit -q --allow-empty -m x`);
    const { exitCode, stderr } = await carrel.run(['apply', 'plain', 'a', '--branch', 'b', '-m', 'x']);
    expect(stderr).toContain('no git repository');
    expect(exitCode).toBe(3);
    expect(await carrel.ok('patch', 'plain', 'a')).toContain('+b');
    const done = await apply(carrel, 'plain', 'a');
    expect([outcomes(done), done.commits, done.warnings]).toEqual([['take a'], [], []]);
    expect(existsSync(project.at('.git'))).toBe(false);
    await carrel.ok('rm', '--force', 'plain');
  });
});
