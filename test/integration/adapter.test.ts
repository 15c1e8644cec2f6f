// @takes 50 s
/** The adapter with real git and real processes, outside of a sandbox. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Service, TestAuthority } from '../fixtures/service.ts';
import { AdapterBench, branchName, scriptedAgent, taskFilePath } from '../harness/adapter.ts';
import { isRunning, until } from '../harness/installation.ts';
import { put } from '../harness/working-copy.ts';

let bench: AdapterBench;
beforeEach(() => {
  bench = new AdapterBench({ a: 'a\n', '.gitignore': 'ignored\nnode_modules/\n' });
});
afterEach(() => bench.dispose());

describe('a finished story', () => {
  it('is one commit on the branch, by the author of the settings, with its id', async () => {
    bench.plan([{ title: 'Greet\nme', does: 'write b hello\nsay I wrote b.\nsay Carrel-Story: US-009' }]);
    const run = await bench.complete({ name: 'robot', author: { name: 'Ada', email: 'ada@example.org' } });
    expect([await run.exited, run.completion]).toEqual([0, { status: 'completed', prUrl: null, errors: [] }]);
    const log = bench.repository.git('log', '--format=%an <%ae> %cn%n%B', '-1', branchName);
    expect(log.trim().split('\n')).toEqual([
      'Ada <ada@example.org> Ada',
      'feat: Greet me (US-001)',
      '',
      'I wrote b.',
      'Carrel-Story: US-009',
      '',
      'Carrel-Task: 2026-01-31-login',
      'Carrel-Story: US-001',
      'Co-authored-by: robot in Carrel <agent@carrel.invalid>',
    ]);
    expect(bench.landed).toEqual(['US-001']);
    expect(bench.show('b')).toBe('hello');
    expect(bench.outcome.stories['US-001']).toMatchObject({ status: 'completed', commit: bench.outcome.tip });
  });

  it('is one commit even if the agent made several, and switched branches', async () => {
    bench.plan([
      {
        does: 'git checkout -q feat/login\nwrite b 1\ngit add b\ngit commit -qm mine\nwrite c 2\ngit add c\ngit commit -qm more',
      },
      { does: 'git checkout -q -b elsewhere\nwrite d 3\ngit rm -q a' },
    ]);
    await bench.complete();
    expect([...bench.landed].sort()).toEqual(['US-001', 'US-002']);
    expect(bench.repository.git('rev-list', '--count', `main..${branchName}`)).toBe('2');
    expect(bench.repository.git('ls-tree', '--name-only', branchName).split('\n')).toEqual([
      '.gitignore',
      'b',
      'c',
      'd',
    ]);
    expect(bench.repository.git('log', '-1', '--format=%s', 'main')).toBe('first');
  });

  it('that changed nothing has a commit, too, and no commit contains task files', async () => {
    bench.plan([{ does: `write ${taskFilePath} spoiled\nwrite ignored x\nwrite .aimi/tasks/x y` }]);
    await bench.complete();
    expect(bench.outcome.completion?.status).toBe('completed');
    expect(bench.landed).toEqual(['US-001']);
    expect(bench.repository.git('diff', '--stat', 'main', branchName)).toBe('');
  });

  it('leaves no process of its agent behind, whatever group that is in', async () => {
    bench.plan([{ does: `leave ${bench.folder}/pids` }]);
    await bench.complete();
    const pids = readFileSync(join(bench.folder, 'pids'), 'utf8').trim().split('\n').map(Number);
    expect(pids).toHaveLength(3);
    await until(() => pids.filter(isRunning).length === 0, 'what was killed to be gone');
  });
});

describe('stories side by side', () => {
  it('are worked on at the same time and do not see each other', async () => {
    const meet = (mine: string, other: string) =>
      `write ${mine} 1\nwrite ${bench.folder}/${mine} 1\nwait ${bench.folder}/${other}\nread ${other}`;
    bench.plan([
      { does: meet('b', 'c') },
      { does: meet('c', 'b') },
      { does: 'read b\nread c', after: ['US-001', 'US-002'] },
    ]);
    const run = await bench.complete();
    expect(run.completion?.status).toBe('completed');
    const { stories } = bench.outcome;
    expect([1, 2, 3].map((n) => stories[`US-00${n}`]?.output)).toEqual(['nothing', 'nothing', '1\n\n1']);
    expect(bench.landed.at(-1)).toBe('US-003');
    // The lanes were removed, and the workspace was never touched.
    expect(existsSync(join(bench.data, 'lanes'))).toBe(false);
    expect(bench.repository.git('worktree', 'list').split('\n')).toHaveLength(1);
    expect(bench.repository.git('status', '--porcelain', '--branch')).toBe('## main\n?? .carrel/');
  });

  it('that conflict are done again from the tip of the branch', async () => {
    const first = `append a one\nwait ${bench.folder}/second`;
    const second = `append a two\nwrite ${bench.folder}/second x\nread a`;
    bench.plan([{ does: first }, { does: second }]);
    const run = await bench.complete();
    expect(run.completion?.status).toBe('completed');
    expect(['a\none\ntwo', 'a\ntwo\none']).toContain(bench.show('a'));
    expect([...bench.landed].sort()).toEqual(['US-001', 'US-002']);
  });

  it('have the packages of the workspace, each its own, and keep what git ignores from story to story', async () => {
    put(bench.repository.path, { 'node_modules/x/index.js': 'x\n', vendor: 'a file of the project\n' });
    bench.plan(
      [
        { does: 'append node_modules/x/index.js y\nwrite ignored z' },
        { does: 'read node_modules/x/index.js\nread ignored', after: ['US-001'] },
      ],
      1,
    );
    await bench.complete();
    expect(bench.outcome.stories['US-002']?.output).toBe('x\ny\n\nz');
    expect(readFileSync(join(bench.repository.path, 'node_modules/x/index.js'), 'utf8')).toBe('x\n');
    expect(bench.repository.git('diff', '--stat', 'main', branchName)).toBe('');
  });
});

describe('a workspace with changes of its own', () => {
  it('is not touched, and agents work on the committed files', async () => {
    put(bench.repository.path, { a: 'edited\n', fresh: 'new\n' });
    bench.plan([{ does: 'read a\nread fresh\nwrite b x' }]);
    await bench.complete();
    expect(bench.outcome.stories['US-001']?.output).toBe('a\n\nnothing');
    expect(bench.repository.git('status', '--porcelain')).toBe(' M a\n?? .carrel/\n?? fresh');
    expect(bench.repository.git('branch', '--show-current')).toBe('main');
    expect(bench.repository.git('ls-tree', '--name-only', branchName).split('\n')).toEqual(['.gitignore', 'a', 'b']);
  });
});

describe('a story that fails', () => {
  it.each([
    ['exit 7', 'ended with 7', null],
    ['say so long\nkill', 'ended with 137: so long', 'AGENT_CRASH'],
  ])('by %j blocks the stories that depend on it, and its work is kept under a ref', async (end, reason, code) => {
    bench.plan([{ does: `write b half\n${end}` }, { does: 'write c whole' }, { does: '', after: ['US-001'] }]);
    const run = await bench.complete();
    expect(await run.exited).toBe(1);
    expect(run.completion).toEqual({
      status: 'failed',
      prUrl: null,
      errors: [expect.stringContaining(reason), 'US-003: waits for US-001'],
    });
    expect(run.errors.map((text) => text.split(' ')[0])).toEqual(code === null ? [] : [code]);
    expect(bench.landed).toEqual(['US-002']);
    expect(bench.repository.git('show', 'refs/carrel/unfinished/US-001:b')).toBe('half');
  });

  it('is tried again by the next run, and only that', async () => {
    bench.plan([{ does: 'write b x\nexit 7' }, { does: 'write c x' }]);
    const first = await bench.complete();
    expect(first.completion?.errors).toEqual([expect.stringMatching(/^US-001: .* ended with 7$/)]);
    bench.plan([{ does: 'write b x' }, { does: 'write c x' }]);
    const second = await bench.complete();
    expect(second.changes).toEqual(['US-002 completed', 'US-001 in_progress', 'US-001 completed']);
    expect(second.completion?.status).toBe('completed');
    expect(bench.landed).toEqual(['US-002', 'US-001']);
    const third = await bench.complete();
    expect(third.changes).toEqual(['US-001 completed', 'US-002 completed']);
    expect(bench.landed).toEqual(['US-002', 'US-001']);
  });
});

it('a story that takes too long has failed', async () => {
  bench.plan([{ does: `write b x\nwait ${bench.folder}/never` }]);
  const run = await bench.complete({ storySeconds: 1 });
  expect(run.completion?.errors).toEqual(['US-001: the agent worked for more than 1 s']);
  expect(run.errors).toEqual(['CONTAINER_TIMEOUT US-001: the agent worked for more than 1 s']);
});

describe('a run that cannot begin', () => {
  it.each([
    ['no task file', () => {}, 'TASK_FILE_NOT_FOUND there is no task file'],
    ['a bad task file', () => put(bench.repository.path, { [taskFilePath]: '{' }), 'TASK_FILE_INVALID'],
  ])('because of %s fails with a completion', async (_, prepare, error) => {
    prepare();
    const run = await bench.complete();
    expect(await run.exited).toBe(1);
    expect(run.errors).toEqual([expect.stringContaining(error)]);
    expect(run.completion).toMatchObject({ status: 'failed', errors: [expect.stringContaining(error.split(' ')[0]!)] });
    expect(bench.outcome.completion).toEqual(run.completion);
  });

  it.each([
    [
      'the program',
      { agent: { kind: 'command', command: ['no-such-agent'] } },
      'AGENT_CRASH AGENT_NOT_INSTALLED: the agent',
    ],
    [
      'a key',
      { agent: { kind: 'command', command: ['true'], key: { variable: 'K', secret: 'S' } } },
      'MISSING_ENV_VAR the agent needs K',
    ],
  ] as const)('because it lacks %s reports the error', async (_, settings, error) => {
    bench.plan([{ does: '' }]);
    const run = await bench.complete(settings);
    expect(run.errors).toEqual([expect.stringContaining(error)]);
  });

  it('without a branch to check out, or with a repository that cannot be cloned, reports the error', async () => {
    bench.plan([{ does: '' }]);
    const run = bench.start();
    run.ask({ repoUrl: 'https://127.0.0.1:1/none.git' });
    expect(await run.exited).toBe(1);
    expect(run.errors).toEqual([expect.stringContaining('GIT_CLONE_FAILED cannot clone https://127.0.0.1:1/none.git')]);
    bench.repository.git('update-ref', '-d', 'refs/heads/main');
    expect((await bench.complete()).errors).toEqual([expect.stringContaining('GIT_CHECKOUT_FAILED')]);
  });
});

it('a repository by its address is cloned once, and worked in', async () => {
  const authority = new TestAuthority('127.0.0.1');
  bench.plan([{ does: 'append b 1' }]);
  bench.repository.git('add', '-f', taskFilePath);
  bench.repository.git('commit', '-q', '-m', 'the task');
  bench.repository.git('update-server-info');
  const service = await Service.open(authority.tls('127.0.0.1'), (request, response) => {
    const path = join(bench.repository.path, '.git', request.url!.split('?')[0]!.replace('/r.git/', ''));
    if (existsSync(path)) response.end(readFileSync(path));
    else response.writeHead(404).end();
  });
  try {
    writeFileSync(join(bench.folder, 'ca.pem'), authority.certificate);
    const run = bench.start({}, { GIT_SSL_CAINFO: join(bench.folder, 'ca.pem') });
    const repoUrl = `https://127.0.0.1:${service.port}/r.git`;
    run.ask({ repoUrl });
    expect([await run.exited, run.errors]).toEqual([0, []]);
    expect(run.messages[0]?.payload).toEqual({
      storyId: 'US-000',
      status: 'in_progress',
      output: `cloning ${repoUrl}`,
    });
    expect(run.changes.slice(1)).toEqual(['US-001 in_progress', 'US-001 completed']);
    const clone = ['--git-dir', join(bench.data, 'repository/.git')];
    expect(bench.repository.git(...clone, 'show', `${branchName}:b`)).toBe('1');
  } finally {
    await service.dispose();
  }
});

describe('a story that an earlier sandbox did and that was fetched', () => {
  const fetched = `refs/carrel/${hostname()}/heads/${branchName}`;

  /** The first story is done and fetched; then the sandbox is gone. */
  async function lose(): Promise<void> {
    bench.plan([{ does: 'append b 1' }, { does: 'exit 1' }]);
    await bench.complete();
    bench.repository.git('update-ref', fetched, branchName);
    rmSync(bench.data, { recursive: true });
    bench.plan([{ does: 'append b 1' }, { does: 'append c 2' }]);
  }

  it.each(['is not there', 'is where it was before'])('is found again if the branch %s', async (where) => {
    await lose();
    if (where === 'is not there') bench.repository.git('branch', '-D', branchName);
    else bench.repository.git('update-ref', `refs/heads/${branchName}`, 'main');
    const run = await bench.complete();
    expect(run.changes).toEqual(['US-001 completed', 'US-002 in_progress', 'US-002 completed']);
    expect([bench.show('b'), bench.show('c')]).toEqual(['1', '2']);
  });

  it('is kept when the branch has diverged: the adapter fails until the branch has the story', async () => {
    await lose();
    bench.repository.git('checkout', '-q', '-B', branchName, 'main');
    bench.repository.commit({ other: 'x' }, 'other');
    const run = await bench.complete();
    expect(run.errors).toEqual([expect.stringMatching(/^GIT_CHECKOUT_FAILED .* have diverged: .*US-001$/)]);
    bench.repository.git('cherry-pick', '--keep-redundant-commits', fetched);
    expect((await bench.complete()).completion?.status).toBe('completed');
    expect(bench.landed).toEqual(['US-001', 'US-002']);
  });
});

describe('the input of an agent', () => {
  it('is the text of the story unchanged, with no part run by a shell', async () => {
    const evil = `'; touch ${bench.folder}/owned; $(touch ${bench.folder}/owned) \`touch ${bench.folder}/owned\` "\\`;
    bench.plan([
      { title: evil, does: `say ${evil}` },
      { title: '--help', does: 'say x' },
    ]);
    const run = await bench.complete();
    expect(run.completion?.status).toBe('completed');
    expect(bench.outcome.stories['US-001']?.output).toBe(evil);
    expect(existsSync(join(bench.folder, 'owned'))).toBe(false);
    expect(bench.repository.git('log', '--format=%s', '-2', branchName)).toContain(evil);
  });

  it('is a prompt with the story if the agent reads prompts', async () => {
    bench.plan([{ title: 'Greet people', does: 'Say hello.' }]);
    await bench.complete({ agent: { kind: 'command', command: ['tee', 'prompt'], input: 'prompt' } });
    expect(bench.show('prompt')).toContain('# Greet people\n\nSay hello.\n');
  });

  it('includes the variables of the request, and its key from a secret', async () => {
    writeFileSync(join(bench.folder, 'secrets', 'S'), 'hidden\n');
    bench.plan([{ does: 'env GREETING\nenv K\nenv HOME' }]);
    const run = bench.start({
      agent: { ...scriptedAgent, key: { variable: 'K', secret: 'S' } },
    });
    run.ask({ envVars: { GREETING: 'hello' } });
    await run.exited;
    expect(bench.outcome.stories['US-001']?.output).toBe('GREETING=hello\nK=hidden\nHOME=/nonexistent');
  });
});
