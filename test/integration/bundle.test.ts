/** An agent's commits, and what an agent may send instead. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { bundleCommand, importBundle, isEmptyBundle, projectTips } from '../../src/noun/workspace/git/bundle/bundle.ts';
import { otherUid, Repository } from '../harness/repository.ts';

const root = mkdtempSync(join(tmpdir(), 'carrel-bundle-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
// The owner of a project must be able to enter the folder.
spawnSync('chmod', ['755', root]);

/** The repository in the sandbox: a copy of the project's. */
function agentOf(project: Repository): Repository {
  const agent = new Repository(root);
  rmSync(agent.path, { recursive: true });
  cpSync(project.path, agent.path, { recursive: true });
  return agent;
}

async function bundle(project: Repository, agent: Repository) {
  const [file, ...args] = bundleCommand((await projectTips(project.path))!);
  const ran = spawnSync(file!, args, { cwd: agent.path });
  const path = join(mkdtempSync(join(root, 'file-')), 'bundle');
  writeFileSync(path, ran.stdout);
  return { path, status: ran.status, said: ran.stderr.toString() };
}

describe('commits of an agent', () => {
  it('arrive on refs of their own, and belong to the owner', async () => {
    const project = new Repository(root);
    const agent = agentOf(project);
    project.give(otherUid);
    agent.commit({ b: 'b\n' }, 'on main');
    agent.git('checkout', '-q', '-b', 'topic/x');
    const tip = agent.commit({ c: 'c\n' }, 'Grüße\n\nmore');
    const { path } = await bundle(project, agent);
    const taken = await importBundle({ project: project.path, name: 'a..b.lock', bundle: path });
    expect(taken).toEqual([
      {
        ref: 'refs/carrel/a%2e.b%2elock/heads/main',
        commit: agent.git('rev-parse', 'main'),
        subject: 'on main',
        ahead: 1,
      },
      { ref: 'refs/carrel/a%2e.b%2elock/heads/topic/x', commit: tip, subject: 'Grüße', ahead: 2 },
    ]);
    const safe = ['-c', `safe.directory=${project.path}`];
    expect(project.git(...safe, 'show', `${taken[1]!.ref}:c`)).toBe('c');
    expect(project.git(...safe, 'status', '--porcelain')).toBe('');
    expect(project.git(...safe, 'fsck', '--strict')).toBe('');
    expect(statSync(join(project.path, '.git', taken[1]!.ref)).uid).toBe(otherUid);
  });

  it('are none if git refuses to make an empty bundle, and only then', async () => {
    const project = new Repository(root);
    const { status, said } = await bundle(project, agentOf(project));
    expect([status, isEmptyBundle(said)]).toEqual([128, true]);
    expect(isEmptyBundle('fatal: not a git repository')).toBe(false);
  });

  it('can be taken again and again, from a detached HEAD, and from a branch that becomes a folder', async () => {
    const project = new Repository(root);
    const agent = agentOf(project);
    const take = async () => {
      const { path } = await bundle(project, agent);
      return (await importBundle({ project: project.path, name: 'n', bundle: path })).map(({ ref }) => ref);
    };
    agent.git('checkout', '-q', '-b', 'x');
    agent.commit({ b: '1' }, 'one');
    expect(await take()).toEqual(['refs/carrel/n/heads/x']);
    agent.git('checkout', '-q', '--detach');
    agent.commit({ b: '2' }, 'two');
    expect(await take()).toEqual(['refs/carrel/n/HEAD']);
    agent.git('branch', '-D', 'x');
    agent.git('checkout', '-q', '-b', 'x/y');
    agent.commit({ b: '3' }, 'three');
    expect(await take()).toEqual(['refs/carrel/n/heads/x/y']);
    expect(project.git('for-each-ref', '--format=%(refname)', 'refs/carrel')).toBe('refs/carrel/n/heads/x/y');
  });

  it('can include the first commit; without a repository there are no tips', async () => {
    const project = new Repository(root);
    project.git('update-ref', '-d', 'HEAD');
    const agent = agentOf(project);
    agent.commit({ b: 'b\n' }, 'first');
    const { path } = await bundle(project, agent);
    const [taken] = await importBundle({ project: project.path, name: 'n', bundle: path });
    expect(taken).toMatchObject({ ref: 'refs/carrel/n/heads/main', ahead: 1 });
    expect(await projectTips(root)).toBeNull();
    expect(await projectTips(join(project.path, '..'))).toBeNull();
  });
});

describe('refused, without a trace in the repository:', () => {
  /** A good bundle to start from; one is enough, since no test changes the repository. */
  const good = async () => {
    made ??= await make();
    return made;
  };
  let made: Awaited<ReturnType<typeof make>> | undefined;
  async function make() {
    const project = new Repository(root);
    const agent = agentOf(project);
    const oid = agent.commit({ b: 'b\n' }, 'two');
    const { path } = await bundle(project, agent);
    const bytes = readFileSync(path);
    return { project, agent, path, oid, pack: bytes.subarray(bytes.indexOf('PACK')) };
  }

  async function refuses(project: Repository, path: string, why: RegExp) {
    const before = project.state();
    const fault = await importBundle({ project: project.path, name: 'n', bundle: path }).catch((error) => error);
    expect(fault).toMatchObject({ code: 'invalid' });
    expect(fault.message).toMatch(why);
    expect(project.state()).toBe(before);
  }

  it.each([
    ['garbage', 'garbage\n\n', /not a git bundle/],
    ['nothing', '', /no header/],
    ['no refs', '# v2 git bundle\n\n', /no branches/],
    ['a filter', '# v3 git bundle\n@filter=blob:none\nOID refs/heads/x\n\n', /cannot be read/],
    ['another format', '# v3 git bundle\n@object-format=sha256\nOID refs/heads/x\n\n', /cannot be read/],
    ['a way out', '# v2 git bundle\nOID refs/heads/../../x\n\n', /name of a branch/],
    ['an option', '# v2 git bundle\nOID refs/heads/-x\n\n', /name of a branch/],
    ['a lock', '# v2 git bundle\nOID refs/heads/x.lock\n\n', /name of a branch/],
    ['a space', '# v2 git bundle\nOID refs/heads/x OID\n\n', /name of a branch/],
    ['a tag', '# v2 git bundle\nOID refs/tags/x\n\n', /not a branch/],
    ['refs of others', '# v2 git bundle\nOID refs/carrel/other/heads/x\n\n', /not a branch/],
    ['a branch twice', '# v2 git bundle\nOID refs/heads/x\nOID refs/heads/x\n\n', /twice/],
    ['a branch in a branch', '# v2 git bundle\nOID refs/heads/x/y\nOID refs/heads/x\n\n', /exclude each other/],
    ['a commit that is not there', `# v2 git bundle\n${'1'.repeat(40)} refs/heads/x\n\n`, /not a commit/],
  ])('%s', async (_name, header, why) => {
    const { project, path, oid, pack } = await good();
    writeFileSync(path, Buffer.concat([Buffer.from(header.replaceAll('OID', oid)), pack]));
    await refuses(project, path, why);
  });

  it('a hundred thousand branches', async () => {
    const { project, path, oid, pack } = await good();
    for (const count of [300, 100_000]) {
      const refs = Array.from({ length: count }, (_, n) => `${oid} refs/heads/b${n}\n`).join('');
      writeFileSync(path, Buffer.concat([Buffer.from(`# v2 git bundle\n${refs}\n`), pack]));
      await refuses(project, path, count === 300 ? /more than/ : /too long/);
    }
  });

  it('a pack that is cut off, broken, or promises too much', async () => {
    const { project, path, oid, pack } = await good();
    const header = Buffer.from(`# v2 git bundle\n${oid} refs/heads/x\n\n`);
    const many = Buffer.from(pack);
    many.writeUInt32BE(0xffffffff, 8);
    const broken = Buffer.from(pack);
    broken[20] = broken[20]! ^ 0xff;
    for (const bytes of [Buffer.alloc(0), pack.subarray(0, -30), broken, many]) {
      writeFileSync(path, Buffer.concat([header, bytes]));
      await refuses(project, path, /refused/);
    }
  });

  it('a bundle that is larger than the limit', async () => {
    const { project, path } = await good();
    truncateSync(path, 2 * 1024 ** 3 + 1);
    await refuses(project, path, /larger/);
  });

  it('commits whose parents the project lacks', async () => {
    const project = new Repository(root);
    const agent = agentOf(project);
    const middle = agent.commit({ b: 'b\n' }, 'two');
    agent.commit({ b: 'c\n' }, 'three');
    const path = join(agent.path, '../thin');
    agent.git('bundle', 'create', '-q', path, 'main', '--not', middle);
    await refuses(project, path, /expected object/);
  });

  it.each([
    ['a tree with a .git', (agent: Repository) => evilTree(agent, '100644 .git\0', 'x')],
    ['a tree with a way out', (agent: Repository) => evilTree(agent, '100644 ..\0', 'x')],
    ['a tree with a path', (agent: Repository) => evilTree(agent, '100644 a/b\0', 'x')],
    ['a .gitmodules that is a link', (agent: Repository) => evilTree(agent, '120000 .gitmodules\0', '../x')],
    [
      'a .gitmodules that runs something',
      (agent: Repository) =>
        evilTree(agent, '100644 .gitmodules\0', '[submodule "x"]\n\tpath = x\n\turl = -u./payload\n'),
    ],
    ['a branch that is a blob', (agent: Repository) => agent.feed('x', 'hash-object', '-w', '--stdin')],
  ])('%s', async (_name, send) => {
    const { project, agent } = await good();
    const oid = send(agent);
    const path = join(agent.path, '../evil');
    const list = agent.git('rev-list', '--objects', '--no-object-names', oid, '--not', 'main~');
    const pack = spawnSync('git', ['pack-objects', '--stdout', '-q'], { cwd: agent.path, input: `${list}\n` }).stdout;
    writeFileSync(path, Buffer.concat([Buffer.from(`# v2 git bundle\n${oid} refs/heads/x\n\n`), pack]));
    await refuses(project, path, /fsck error|not a commit/);
  });

  function evilTree(agent: Repository, entry: string, content: string): string {
    const blob = agent.feed(content, 'hash-object', '-w', '--stdin');
    const tree = Buffer.concat([Buffer.from(entry, 'latin1'), Buffer.from(blob, 'hex')]);
    const oid = agent.feed(tree, 'hash-object', '-t', 'tree', '-w', '--literally', '--stdin');
    return agent.git('commit-tree', oid, '-p', 'main~', '-m', 'evil');
  }
});

it('hooks and configuration of the project are not run', async () => {
  const project = new Repository(root);
  const agent = agentOf(project);
  agent.commit({ b: 'b\n' }, 'two');
  const { path } = await bundle(project, agent);
  const mark = join(project.path, '../ran');
  const hook = join(project.path, '.git/hooks/reference-transaction');
  writeFileSync(hook, `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
  project.git('config', 'core.fsmonitor', hook);
  await importBundle({ project: project.path, name: 'n', bundle: path });
  expect(() => statSync(mark)).toThrow();
  project.git('update-ref', 'refs/heads/other', 'HEAD');
  statSync(mark);
});
