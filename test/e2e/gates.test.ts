/** What an owner has to allow before it reaches the project, under whichever name the project reaches it. */
import { chmodSync, existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChangesView } from '../../src/api/routes.ts';
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
  it('a hook, settings of an editor and instructions for agents are not taken by their other names', async () => {
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

  it('chains, links in linked folders, links that the same apply adds, and loops', async () => {
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

  it('a link out by way of the owner’s own, and a hook that cannot run yet', async () => {
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
