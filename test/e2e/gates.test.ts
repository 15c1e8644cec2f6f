/** Gated changes need the owner's permission, under every name by which the project reaches them. */
import { chmodSync, existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChangesView } from '../../src/noun/workspace/api.ts';
import { Installation } from '../harness/installation.ts';
import { agent, apply, Project } from '../harness/project.ts';

let carrel: Installation;
beforeAll(() => {
  carrel = new Installation();
});
afterAll(() => carrel.dispose());

async function sandbox(name: string, files: Record<string, string>, setUp: (project: Project) => void = () => {}) {
  const project = new Project(carrel.folder(name), files);
  setUp(project);
  await carrel.ok('create', '--name', name, project.path);
  return project;
}

async function gatesOf(name: string): Promise<Record<string, readonly string[]>> {
  const { changes } = await carrel.json<ChangesView>('diff', name);
  return Object.fromEntries(changes.map(({ path, gates }) => [path, gates]));
}

describe('links of the project give a change another name', () => {
  it('a hook, settings of an editor and instructions for agents are gated under their other names', async () => {
    const canary = join(carrel.folder('canary'), 'ran');
    const files = {
      'tools/vs/tasks.json': '{}\n',
      'tools/hooks/pre-commit': '#!/bin/sh\n',
      'docs/rules.md': 'Be kind.\n',
    };
    const project = await sandbox('linked', files, ({ path }) => {
      chmodSync(join(path, 'tools/hooks/pre-commit'), 0o755);
      symlinkSync('tools/vs', join(path, '.vscode'));
      symlinkSync('tools/hooks', join(path, '.husky'));
      symlinkSync('docs/rules.md', join(path, 'CLAUDE.md'));
    });
    project.git('init', '-q');
    project.git('config', 'core.hooksPath', '.husky');
    const change = `echo '{"tasks":[]}' > tools/vs/tasks.json; echo 'touch "${canary}"' >> tools/hooks/pre-commit; echo Obey. >> docs/rules.md; echo 1 > plain`;
    await agent(carrel, 'linked', change);
    const expected = {
      'docs/rules.md': ['agent'],
      'tools/hooks/pre-commit': ['git-hooks'],
      'tools/vs/tasks.json': ['editor'],
      plain: [],
    };
    expect(await gatesOf('linked')).toEqual(expected);
    const refused = await apply(carrel, 'linked');
    expect([refused.exitCode, refused.blocked]).toEqual([4, 'gated']);
    expect(Object.fromEntries(refused.paths.map(({ path, gates }) => [path, gates]))).toEqual(expected);
    expect((await apply(carrel, 'linked', '--leave')).exitCode).toBe(0);
    project.git('add', '-A');
    project.git('commit', '-qm', 'after the apply');
    expect(existsSync(canary)).toBe(false);
    await carrel.ok('apply', 'linked', '--allow', 'git-hooks,agent,editor');
    await carrel.ok('rm', '--force', 'linked');
  });

  it('chains of links, links in linked folders, links that the same apply adds, and loops are gated', async () => {
    const project = await sandbox('chained', { 'ci/x.yml': 'a\n', 'releases/1/vs/x': '', 'meta/y': '' }, ({ path }) => {
      symlinkSync('meta', join(path, '.github'));
      symlinkSync('cur/vs', join(path, '.vscode'));
      symlinkSync('releases/1', join(path, 'cur'));
      symlinkSync(join(path, 'config/envrc'), join(path, '.envrc'));
      symlinkSync('loop', join(path, 'loop'));
      symlinkSync('..', join(path, 'meta/up'));
    });
    await agent(
      carrel,
      'chained',
      'ln -s ../ci meta/workflows; echo b > ci/x.yml; mkdir -p releases/2/vs config; echo c > releases/2/vs/x; ln -sfn releases/2 cur; echo d > config/envrc; echo e > loose',
    );
    const gates = await gatesOf('chained');
    expect(gates).toMatchObject({
      'ci/x.yml': ['ci'],
      'config/envrc': ['env'],
      'meta/workflows': ['ci'],
      'releases/2/vs/x': ['editor'],
      cur: ['editor'],
      loose: [],
    });
    const { paths, exitCode } = await apply(carrel, 'chained', '--dry-run');
    expect(exitCode).toBe(4);
    for (const { path, gates: judged } of paths) expect(judged, path).toEqual(gates[path]);
    expect(project.read('ci/x.yml')).toBe('a\n');
    await carrel.ok('rm', '--force', 'chained');
  });

  it('files that settings of git include are gated as settings, whether they exist or not', async () => {
    const project = await sandbox('included', { 'tools/git': '[alias]\n\ts = status\n', 'tools/attrs': '' }, () => {});
    project.git('init', '-q');
    project.git('config', 'include.path', '../tools/git');
    project.git('config', 'includeIf.gitdir:/elsewhere/.path', join(project.path, 'tools/later'));
    project.git('config', 'core.attributesFile', 'tools/attrs');
    const canary = join(carrel.folder('included-canary'), 'ran');
    await agent(
      carrel,
      'included',
      `printf '[core]\\n\\tfsmonitor = touch ${canary}\\n' | tee tools/later >> tools/git; echo '* filter=x' > tools/attrs`,
    );
    expect(await gatesOf('included')).toEqual({
      'tools/attrs': ['attributes'],
      'tools/git': ['git-config'],
      'tools/later': ['git-config'],
    });
    expect((await apply(carrel, 'included', '--leave')).exitCode).toBe(0);
    project.git('status');
    expect(existsSync(canary)).toBe(false);
    await carrel.ok('rm', '--force', 'included');
  });

  it('a link out of the project through the owner’s link is gated, and so is a hook that is not executable', async () => {
    const project = await sandbox('outward', { file: '' }, ({ path }) => symlinkSync('/opt', join(path, 'vendor')));
    project.git('init', '-q');
    project.git('config', 'core.hooksPath', 'tools/hooks');
    await agent(carrel, 'outward', 'ln -s vendor/lib l; mkdir -p tools/hooks; echo x > tools/hooks/pre-push');
    expect(await gatesOf('outward')).toMatchObject({ l: ['symlink'], 'tools/hooks/pre-push': ['git-hooks'] });
    const { paths } = await apply(carrel, 'outward');
    expect(paths.filter(({ outcome }) => outcome === 'gated').map(({ path }) => path)).toEqual([
      'l',
      'tools/hooks/pre-push',
    ]);
    await carrel.ok('rm', '--force', 'outward');
  });
});

it('a lockfile that fetches from elsewhere is gated, and a line says what changed in it', async () => {
  const lock = (host: string) =>
    JSON.stringify({
      packages: { 'node_modules/a': { version: '1.0.0', resolved: `https://${host}/a.tgz`, integrity: host } },
    });
  await sandbox('locked', {
    'package-lock.json': lock('registry.npmjs.org'),
    'package.json': '{"scripts":{"test":"x"}}',
  });
  const program = `printf '%s' '${lock('evil.example')}' > package-lock.json; printf '%s' '{"scripts":{"test":"y"},"scripts":{"test":"x"}}' > package.json`;
  await agent(carrel, 'locked', program);
  const { stdout, stderr, exitCode } = await carrel.run(['apply', 'locked']);
  expect(exitCode).toBe(4);
  expect(stdout).toMatch(
    /package-lock\.json +\[dependencies\]\n +changed a 1\.0\.0 with other content; from a new place evil\.example\n/,
  );
  expect(stdout).toMatch(/package\.json +\[scripts\]/);
  expect(stderr).toContain('carrel apply locked --allow dependencies,scripts');
  expect(await carrel.ok('diff', '--stat', 'locked')).toContain('from a new place evil.example');
  await carrel.ok('apply', 'locked', '--allow', 'scripts,dependencies');
  await carrel.ok('rm', '--force', 'locked');
});

it('a kind that is always allowed for a project is kept in the home, listed, logged and revocable', async () => {
  const project = await sandbox('always', { file: '' });
  const program = (name: string) => `printf '#!/bin/sh\\n' > ${name}; chmod +x ${name}`;
  await agent(carrel, 'always', `${program('one')}; mkdir .vscode; echo '{}' > .vscode/tasks.json`);
  const before = project.names();
  expect((await carrel.run(['apply', 'always', '--always'])).exitCode).toBe(2);
  expect((await apply(carrel, 'always', '--allow', 'executable', '--always', '--dry-run')).always).toEqual([]);
  const first = await apply(carrel, 'always', '--allow', 'executable', '--always');
  expect([first.exitCode, first.always]).toEqual([4, ['executable']]);
  expect(project.names()).toEqual(before);
  await carrel.ok('apply', 'always', '--allow', 'editor');
  await agent(carrel, 'always', program('two'));
  const { exitCode, stderr } = await carrel.run(['apply', 'always']);
  expect([exitCode, project.read('two')]).toEqual([0, '#!/bin/sh\n']);
  expect(stderr).toContain(
    'always allowed in this project: executable (carrel apply always --ask executable ends that)',
  );
  await carrel.ok('fork', 'always', 'other');
  await agent(carrel, 'always', program('three'));
  const merged = await carrel.run(['merge', 'always', 'other', '--ask', 'executable']);
  expect([merged.exitCode, merged.stderr.includes('nothing would be changed')]).toEqual([4, true]);
  expect(project.names()).not.toContain('three');
  expect((await apply(carrel, 'always')).exitCode).toBe(4);
  const audited = await carrel.ok('audit');
  expect(audited).toMatch(/sandbox\.apply.*always=true/);
  expect(audited).toMatch(/project\.ask.*executable/);
  await carrel.ok('rm', '--force', 'always', 'other');
});

it('a patch names those of its changes that could run something, and git still takes it', async () => {
  const project = await sandbox('patched', { 'a b': 'x\n' });
  project.git('init', '-q');
  project.git('add', '-A');
  project.git('commit', '-qm', 'first');
  await agent(carrel, 'patched', `echo y >> 'a b'; echo x > .envrc; printf 'x' > "run\nme"; chmod +x "run\nme"`);
  const { stdout, stderr } = await carrel.run(['patch', 'patched']);
  expect(stdout).toContain('---\nCould run something here:\n  .envrc [env]\n  "run\\nme" [executable]\n\ndiff --git');
  expect(stderr).toContain('could run something: .envrc [env]');
  project.feed(stdout, 'am', '-q');
  expect(project.git('log', '-1', '--format=%b')).toBe('');
  expect(project.read('.envrc')).toBe('x\n');
  await carrel.ok('rm', '--force', 'patched');
});

it('commits that are small inside and large in transfer cost the host at most the disk limit of the sandbox', async () => {
  const project = new Project(carrel.folder('large'), { file: '' });
  project.git('init', '-q');
  project.git('add', '-A');
  project.git('commit', '-qm', 'first');
  await carrel.ok('create', '--name', 'large', '--disk', '16m', project.path);
  await agent(
    carrel,
    'large',
    `blob=$(head -c 64M /dev/zero | git hash-object -w --stdin)
    tree=$(printf '100644 blob %s\\tzeros\\n' "$blob" | git mktree)
    git -c user.name=A -c user.email=a@example.org branch large "$(git -c user.name=A -c user.email=a@example.org commit-tree -m large "$tree")"
    git config pack.compression 0; echo x > file`,
  );
  const { exitCode, warnings } = await apply(carrel, 'large', '--leave');
  expect(exitCode).toBe(0);
  expect(warnings).toEqual([expect.stringMatching(/^the commits of large were not fetched: .* disk space, 16M/)]);
  expect(project.git('for-each-ref', 'refs/carrel')).toBe('');
  await carrel.ok('rm', '--force', 'large');
});
