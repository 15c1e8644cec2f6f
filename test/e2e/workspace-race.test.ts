/**
 * People act at the same time, or while an agent makes a command wait: no command waits forever, no work is lost, and
 * no undone change comes back.
 */
import { existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ApplyView, ChangesView } from '../../src/noun/workspace/api.ts';
import { Installation, type Outcome, until } from '../harness/installation.ts';
import { agent, apply, outcomes, Project, stateOf } from '../harness/project.ts';

const asAgent = 'export GIT_AUTHOR_NAME=Agent GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=Agent GIT_COMMITTER_EMAIL=a@b; ';
/** Makes a commit that the checkout does not contain. */
const hiddenCommit = `${asAgent} git checkout -qb work; echo c > c; git add c; git commit -qm hidden; git checkout -q main`;
/** Makes git wait forever for a writer. */
const trap = 'rm .git/HEAD; mkfifo .git/HEAD';

let carrel: Installation;
let project: Project;
let count = 0;

beforeAll(() => {
  carrel = new Installation();
});
afterAll(() => carrel.dispose());

beforeEach(() => {
  count += 1;
  project = new Project(carrel.folder(`project-${count}`), { a: 'a\n', b: 'b\n' });
  project.git('init', '-q');
  project.git('add', '-A');
  project.git('commit', '-qm', 'first');
});
afterEach(async () => {
  const names = (await carrel.list()).map(({ name }) => name);
  if (names.length > 0) await carrel.ok('rm', '--force', ...names);
});

const stop = (name: string) => carrel.ok('stop', '--grace', '0', name);
const applies = () => {
  const folder = join(carrel.home, 'applies');
  return existsSync(folder) ? readdirSync(folder) : [];
};
const inEngine = () => readdirSync(join(carrel.home, 'engine/run'));

describe('an agent that keeps git waiting', () => {
  const view = ({ stdout }: Outcome) => JSON.parse(stdout) as ApplyView;

  /** Starts an apply that waits for git inside. */
  async function trapped(): Promise<Promise<Outcome>> {
    await carrel.ok('create', '--name', 'trap', project.path);
    await agent(carrel, 'trap', `echo t > t; ${trap}`);
    return carrel.run(['--json', 'apply', 'trap']);
  }
  const waits = () =>
    until(
      async () => (await agent(carrel, 'trap', 'cat /proc/[0-9]*/cmdline | tr "\\0" " "')).includes('bundle create'),
      'git to be waiting',
    );

  it('blocks neither other sandboxes of the project nor the removal of this one', async () => {
    await carrel.ok('create', '--name', 'other', project.path);
    await agent(carrel, 'other', 'echo o > o');
    const waiting = trapped();
    await until(async () => existsSync(project.at('t')), 'the files to be taken over');
    await waits();
    expect(outcomes(await apply(carrel, 'other'))).toEqual(['take o']);
    await carrel.ok('rm', '--force', 'trap');
    const done = await waiting;
    expect(done.exitCode).toBe(0);
    expect(view(done).warnings).toEqual([expect.stringContaining('the commits of trap were not fetched: ')]);
    expect(view(done).warnings[0]).not.toMatch(/: $/);
  });

  it('keeps the daemon running until the apply ends, and new work is refused meanwhile', async () => {
    const waiting = trapped();
    await until(async () => existsSync(project.at('t')), 'the files to be taken over');
    await waits();
    const down = carrel.run(['down']);
    await until(async () => (await carrel.run(['snapshot', 'trap'])).exitCode === 75, 'new work to be refused');
    // The daemon may end before it answers this command.
    await carrel.run(['exec', 'trap', '--', 'pkill', '-KILL', 'git']);
    const done = await waiting;
    expect([done.exitCode, view(done).warnings]).toEqual([0, [expect.stringContaining('were not fetched')]]);
    expect((await down).exitCode).toBe(0);
  });

  it('leaves nothing behind when the daemon dies while it visits an ended sandbox', async () => {
    await carrel.ok('create', '--name', 'trap', project.path);
    await agent(carrel, 'trap', trap);
    await stop('trap');
    const id = (await carrel.show('trap')).id;
    const waiting = carrel.run(['apply', 'trap']);
    const visits = () => inEngine().filter((name) => name !== id);
    await until(() => visits().length > 0, 'the visit to begin');
    await carrel.killDaemon();
    await waiting;
    await carrel.ok('ls');
    await until(() => visits().length === 0, 'the visit to be removed');
  });
});

describe('an owner who edits the project while an agent works', () => {
  it('keeps files added where the agent deleted or replaced a folder: --theirs is blocked, and --ours deletes none of them', async () => {
    for (const path of ['made-again/x', 'gone/x']) project.put(path, 'x\n');
    await carrel.ok('create', '--name', 'box', project.path);
    await agent(carrel, 'box', 'touch f; rm -rf made-again; mkdir made-again; echo n > made-again/f; rm -r gone');
    for (const path of ['f/in', 'made-again/new', 'gone/y']) project.put(path, 'owner\n');
    const { changes } = await carrel.json<ChangesView>('diff', 'box');
    expect(changes.map(({ status, path, baseKnown }) => `${status} ${path} ${baseKnown}`)).toEqual([
      'A f true',
      'D gone true',
      'D gone/x true',
      'A made-again/f true',
      'D made-again/x true',
    ]);
    expect((await apply(carrel, '--theirs', 'box')).blocked).toBe('conflict');
    expect(outcomes(await apply(carrel, '--ours', 'box'))).toEqual([
      'ours f',
      'same gone',
      'take gone/x',
      'take made-again/f',
      'take made-again/x',
    ]);
    for (const path of ['f/in', 'made-again/new', 'gone/y']) expect(project.read(path)).toBe('owner\n');
  });

  it("whose edit precedes a command: the edit is the base of that command's changes", async () => {
    await carrel.ok('create', '--name', 'box', project.path);
    await agent(carrel, 'box', 'echo n > n');
    project.put('a', 'owner\n');
    // Timestamps of files are up to 10 ms behind the clock, so the order of events is clear only after that.
    await until(() => Date.now() > statSync(project.at('a')).ctimeMs + 20, 'the clock to go on');
    await agent(carrel, 'box', 'sed s/owner/both/ a > t; mv t a');
    expect(outcomes(await apply(carrel, 'box'))).toEqual(['take a', 'take n']);
    expect(project.read('a')).toBe('both\n');
  });
});

describe('an apply that was cut short while its project was away', () => {
  const elsewhere = () => `${project.path}-away`;

  beforeEach(async () => {
    await carrel.ok('create', '--name', 'box', project.path);
    await agent(carrel, 'box', 'echo agent > a; rm b; echo n > n');
    await carrel.crashDuring('apply:step:0', 'apply', 'box');
    renameSync(project.path, elsewhere());
    await carrel.ok('ls');
    renameSync(elsewhere(), project.path);
  });

  it('is finished before the next one, and does not come back after an undo', async () => {
    expect((await apply(carrel, 'box')).blocked).toBeNull();
    expect([project.read('a'), project.names()]).toEqual(['agent\n', ['.git', 'a', 'n']]);
    await carrel.ok('undo', 'box');
    const before = stateOf(project.path);
    expect(project.names()).toEqual(['.git', 'a', 'b']);
    await carrel.ok('down');
    await carrel.ok('ls');
    expect(stateOf(project.path)).toBe(before);
  });

  it('is finished before an undo', async () => {
    await carrel.ok('undo', 'box');
    expect([project.read('a'), project.names()]).toEqual(['a\n', ['.git', 'a', 'b']]);
  });

  it('that cannot be finished makes the next apply fail with a message', async () => {
    const journal = join(carrel.home, 'applies', applies()[0]!, 'journal.json');
    expect(existsSync(journal)).toBe(true);
    writeFileSync(journal, 'no journal');
    const { exitCode, stderr } = await carrel.run(['apply', 'box']);
    expect(stderr).toContain('an interrupted apply to');
    expect(exitCode).toBe(6);
    rmSync(join(carrel.home, 'applies', applies()[0]!), { recursive: true });
  });
});

describe('changes and commits that were not taken over', () => {
  it('a sandbox with a commit that no file shows can be removed only after the commit is fetched', async () => {
    await carrel.ok('create', '--name', 'box', project.path);
    await agent(carrel, 'box', hiddenCommit);
    await stop('box');
    const { exitCode, stderr } = await carrel.run(['rm', 'box']);
    expect(stderr).toContain('box has commits that were not fetched');
    expect(stderr).toContain('carrel apply box');
    expect(exitCode).toBe(6);
    expect((await apply(carrel, 'box')).commits).toMatchObject([{ subject: 'hidden' }]);
    await carrel.ok('rm', 'box');
    expect(project.git('show', 'refs/carrel/box/heads/work:c')).toBe('c');
  });

  it('commits keep a sandbox with --rm', async () => {
    await carrel.ok('create', '--rm', '--name', 'box', project.path, '--', 'sh', '-ec', hiddenCommit);
    await carrel.run(['wait', 'box']);
    expect((await carrel.show('box')).state).toBe('completed');
  });

  it('git status, a new branch and a staged file do not count as commits', async () => {
    await carrel.ok('create', '--name', 'box', project.path);
    await agent(
      carrel,
      'box',
      'touch a; git status; git checkout -qb other; echo x > x; git add x; git reset -q; rm x',
    );
    await stop('box');
    await carrel.ok('rm', 'box');
  });

  it('refs that are pipes, links or too large count as commits, and are not read', async () => {
    await carrel.ok('create', '--name', 'box', project.path);
    const plant = 'mkdir -p .git/refs/heads/x; mkfifo .git/refs/heads/x/pipe; ln -s /etc/passwd .git/refs/heads/link';
    await agent(carrel, 'box', `${plant}; rm .git/HEAD; mkfifo .git/HEAD; truncate -s 1G .git/packed-refs`);
    await stop('box');
    const { exitCode, stderr } = await carrel.run(['rm', 'box']);
    expect(stderr).toContain('commits that were not fetched');
    expect(exitCode).toBe(6);
  });

  it('cannot be checked when the project is gone, and rm needs --force', async () => {
    await carrel.ok('create', '--name', 'box', project.path);
    await agent(carrel, 'box', 'echo x > x');
    await stop('box');
    rmSync(project.path, { recursive: true });
    const { exitCode, stderr } = await carrel.run(['rm', 'box']);
    expect(stderr).toContain('does not exist any more');
    expect(stderr).toContain('carrel rm --force box');
    expect(exitCode).toBe(6);
    await carrel.ok('rm', '--force', 'box');
  });
});

it('an apply of several sandboxes can be undone by any of them, and its journal is removed with the last', async () => {
  for (const name of ['one', 'two']) {
    await carrel.ok('create', '--name', name, project.path);
    await agent(carrel, name, `echo ${name} > ${name}`);
  }
  await carrel.ok('merge', 'one', 'two');
  expect(applies()).toHaveLength(1);
  await carrel.ok('rm', '--force', 'one');
  expect(applies()).toHaveLength(1);
  await carrel.ok('undo', 'two');
  await carrel.ok('apply', 'two');
  await carrel.ok('rm', '--force', 'two');
  expect(applies()).toEqual([]);
  const { exitCode, stderr } = await carrel.run(['undo', 'two']);
  expect(stderr).toContain('as long as one of the sandboxes');
  expect(exitCode).toBe(5);
  expect(project.read('two')).toBe('two\n');
});
