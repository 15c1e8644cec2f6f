/**
 * A working copy of a project keeps the agent's changes apart until they are applied. Root, rootless and docker behave
 * alike; each has a file of its own, with one installation for all tests and a project for each test.
 */
import { execFileSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { ApplyView, SnapshotView } from '../../src/noun/workspace/api.ts';
import { Dockerd } from '../harness/dockerd.ts';
import { Installation, until } from '../harness/installation.ts';
import { isRealRoot } from '../harness/machine.ts';
import { createRootlessAccount, type RootlessAccount } from '../harness/rootless.ts';

const lines = (...all: string[]) => all.map((line) => `${line}\n`).join('');
const numbers = (from: number, to: number) =>
  lines(...Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`));

export function workingCopies(who: 'root' | 'rootless' | 'docker'): void {
  let account: RootlessAccount | null;
  let dockerd: Dockerd | null;
  let carrel: Installation;
  let project: string;
  let count = 0;

  beforeAll(async () => {
    dockerd = who === 'docker' ? await Dockerd.open() : null;
    account = who === 'rootless' && isRealRoot ? createRootlessAccount() : null;
    carrel = new Installation(account, dockerd);
  });
  afterAll(async () => {
    await carrel.dispose();
    account?.dispose();
    await dockerd?.dispose();
  });
  beforeEach(() => {
    count += 1;
    project = carrel.folder(`project-${count}`);
    if (who === 'docker') chownSync(project, 12_345, 12_345);
    put('a.txt', numbers(1, 20));
    put('keep.txt', 'kept\n');
    folder('src/deep');
    put('src/main.ts', 'export {};\n');
    put('src/deep/x', 'x\n');
  });
  afterEach(() => carrel.clear());

  /** Writes a file of the project as the owner. */
  function put(path: string, content: string): void {
    writeFileSync(join(project, path), content);
    own(path);
  }
  function folder(path: string): void {
    mkdirSync(join(project, path), { recursive: true });
    for (let at = path; at !== '.'; at = join(at, '..')) own(at);
  }
  function own(path: string): void {
    const { uid, gid } = statSync(project);
    chownSync(join(project, path), uid, gid);
  }
  const read = (path: string) => readFileSync(join(project, path), 'utf8');

  const agent = (name: string, script: string) => carrel.run(['exec', name, '--', 'sh', '-ec', script]);
  async function changes(name: string): Promise<string[]> {
    const view = await carrel.changes(name);
    return view.changes.map(({ status, path }) => `${status} ${path}`);
  }
  async function apply(...args: string[]): Promise<ApplyView & { exitCode: number }> {
    const { exitCode, stdout } = await carrel.run(['--json', 'apply', ...args]);
    return { ...(JSON.parse(stdout) as ApplyView), exitCode };
  }
  const outcomes = ({ paths }: ApplyView) => paths.map(({ outcome, path }) => `${outcome} ${path}`);

  it('shows the project read-only beside a working copy, and keeps changes out of the project', async () => {
    const { stdout, exitCode } = await carrel.run([
      'run',
      '--name',
      'box',
      project,
      '--',
      'sh',
      '-c',
      'pwd; cat a.txt | head -1; id -un; stat -c %U a.txt; touch /.workspace/no 2>/dev/null || echo refused; echo more >> a.txt; rm -r src; mkdir empty; cat /.workspace/src/main.ts',
    ]);
    expect(stdout).toBe(lines('/workspace', 'line 1', 'agent', 'agent', 'refused', 'export {};'));
    expect(exitCode).toBe(0);
    expect(read('a.txt')).toBe(numbers(1, 20));
    expect(readdirSync(project).sort()).toEqual(['a.txt', 'keep.txt', 'src']);
    expect(await changes('box')).toEqual([
      'M a.txt',
      'A empty',
      'D src',
      'D src/deep',
      'D src/deep/x',
      'D src/main.ts',
    ]);
  });

  it('survives stop, start, and an end and a kill of the daemon', async () => {
    await carrel.ok('create', '--name', 'box', project);
    await agent('box', 'echo one > new; echo home > ~/note; echo data > /.data/d; rm keep.txt');
    const look = async () => (await agent('box', 'cat new ~/note /.data/d; ls')).stdout;
    const seen = lines('one', 'home', 'data', 'a.txt', 'new', 'src');
    expect(await look()).toBe(seen);
    await carrel.ok('stop', '--grace', '0', 'box');
    await carrel.ok('start', 'box');
    expect(await look()).toBe(seen);
    await carrel.killDaemon();
    expect(await look()).toBe(seen);
    await carrel.ok('stop', '--grace', '0', 'box');
    await carrel.killDaemon();
    expect(await changes('box')).toEqual(['D keep.txt', 'A new']);
    await carrel.ok('start', 'box');
    expect(await look()).toBe(seen);
  });

  it('gives each sandbox a home of its own over that of its user', async () => {
    await carrel.ok('create', '--name', 'one');
    await carrel.ok('create', '--name', 'two');
    await agent('one', 'echo mine > ~/note');
    expect((await agent('two', 'ls ~')).stdout).toBe('');
    expect((await agent('one', 'cat ~/note')).stdout).toBe('mine\n');
    const volume = readdirSync(join(carrel.home, 'volumes')).find((one) => /^carrel-home-[0-9a-f]{8}$/.test(one));
    const shared = join(carrel.home, 'volumes', volume!, 'shared');
    writeFileSync(shared, 'of the user\n', { mode: 0o644 });
    await carrel.ok('create', '--name', 'three');
    const change = 'cat ~/shared; rm ~/shared; echo mine > ~/shared; cat ~/shared';
    expect((await agent('three', change)).stdout).toBe('of the user\nmine\n');
    expect(readFileSync(shared, 'utf8')).toBe('of the user\n');
    rmSync(shared);
  });

  it('apply does what its dry run printed, and undo takes it back', async () => {
    await carrel.ok('create', '--name', 'box', project);
    await agent('box', 'echo more >> a.txt; rm keep.txt; mkdir -p new/er; echo x > new/er/file; ln -s a.txt link');
    const before = snapshotOf(project);
    const planned = await apply('box', '--dry-run');
    expect(planned.apply).toBeNull();
    expect(snapshotOf(project)).toEqual(before);
    const done = await apply('box');
    expect(outcomes(done)).toEqual(outcomes(planned));
    expect(outcomes(done)).toEqual([
      'take a.txt',
      'take keep.txt',
      'take link',
      'take new',
      'take new/er',
      'take new/er/file',
    ]);
    expect(read('a.txt')).toBe(`${numbers(1, 20)}more\n`);
    expect(existsSync(join(project, 'keep.txt'))).toBe(false);
    expect(read('new/er/file')).toBe('x\n');
    for (const path of ['a.txt', 'new', 'new/er/file', 'link'])
      expect(lstatSync(join(project, path)).uid).toBe(statSync(project).uid);
    expect(await changes('box')).toEqual([]);
    expect(readdirSync(project).sort()).toEqual(['a.txt', 'link', 'new', 'src']);
    await carrel.ok('undo', 'box');
    expect(snapshotOf(project)).toEqual(before);
    expect(await changes('box')).toHaveLength(6);
  });

  it('applies again what was undone, including removed folders', async () => {
    await carrel.ok('create', '--name', 'box', project);
    await agent('box', 'rm -r src; echo more >> a.txt');
    await apply('box');
    await carrel.ok('undo', 'box');
    expect(read('src/deep/x')).toBe('x\n');
    expect((await apply('box')).exitCode).toBe(0);
    expect(existsSync(join(project, 'src'))).toBe(false);
  });

  it('keeps hard links inside, and takes each path as a file of its own', async () => {
    const keepsLinks = who === 'root';
    put('pair', 'old\n');
    linkSync(join(project, 'pair'), join(project, 'src/pair'));
    const ino = (path: string) => statSync(join(project, path)).ino;
    const inside = (path: string) => carrel.ok('exec', 'box', '--', 'cat', `/workspace/${path}`);
    await carrel.ok('create', '--name', 'box', project);
    await agent('box', 'cd /workspace; echo new > pair; echo t > t1; ln t1 src/t2; ln keep.txt kept');
    expect(await inside('src/pair')).toBe(keepsLinks ? 'new\n' : 'old\n');
    await carrel.ok('stop', '--grace', '0', 'box');
    await carrel.ok('start', 'box');
    expect(await inside('src/pair')).toBe(keepsLinks ? 'new\n' : 'old\n');
    const pair = keepsLinks ? ['M src/pair'] : [];
    expect(await changes('box')).toEqual(['A kept', 'M pair', ...pair, 'A src/t2', 'A t1']);
    expect((await apply('box')).exitCode).toBe(0);
    expect([ino('kept') === ino('keep.txt'), ino('t1') === ino('src/t2')]).toEqual([false, false]);
    expect([ino('pair') === ino('src/pair'), read('src/pair')]).toEqual([false, keepsLinks ? 'new\n' : 'old\n']);
    expect(await changes('box')).toEqual([]);
    await carrel.ok('undo', 'box');
    expect([ino('pair') === ino('src/pair'), read('src/pair'), existsSync(join(project, 'kept'))]).toEqual([
      true,
      'old\n',
      false,
    ]);
    expect(await changes('box')).toEqual(['A kept', 'M pair', ...pair, 'A src/t2', 'A t1']);
  });

  it('merges files that both changed, and names conflicts', async () => {
    await carrel.ok('create', '--name', 'box', project);
    await agent('box', "sed -i '1s/.*/agent/' a.txt; echo agent > keep.txt; echo agent > both");
    put('a.txt', `${numbers(1, 19)}owner\n`);
    put('keep.txt', 'owner\n');
    put('both', 'owner\n');
    const blocked = await apply('box');
    expect(blocked.exitCode).toBe(6);
    expect(blocked.blocked).toBe('conflict');
    expect(outcomes(blocked)).toEqual(['merge a.txt', 'conflict both', 'conflict keep.txt']);
    expect(read('a.txt')).toBe(`${numbers(1, 19)}owner\n`);
    const text = await carrel.run(['apply', 'box']);
    expect(text.exitCode).toBe(6);
    for (const way of ['--theirs', '--ours', '--markers', '--leave']) expect(text.stdout + text.stderr).toContain(way);
    const left = await apply('box', '--leave');
    expect(outcomes(left)).toEqual(['merge a.txt', 'left both', 'left keep.txt']);
    expect(read('a.txt')).toBe(`agent\n${numbers(2, 19)}owner\n`);
    expect(read('keep.txt')).toBe('owner\n');
    const theirs = await apply('box', '--theirs', 'keep.txt');
    expect(outcomes(theirs)).toEqual(['theirs keep.txt']);
    expect(read('keep.txt')).toBe('agent\n');
    expect(await changes('box')).toEqual(['A both']);
  });

  it('apply is blocked by changes that could run on the host', async () => {
    await carrel.ok('create', '--name', 'box', project);
    await agent(
      'box',
      'echo "#!/bin/sh" > run.sh; chmod +x run.sh; echo "use flake" > .envrc; ln -s /etc/passwd out; echo fine > fine',
    );
    const held = await apply('box');
    expect([held.exitCode, held.blocked]).toEqual([4, 'gated']);
    expect(held.paths.filter(({ gates }) => gates.length > 0).map(({ path, gates }) => `${path} ${gates}`)).toEqual([
      '.envrc env',
      'out symlink',
      'run.sh executable',
    ]);
    expect(existsSync(join(project, 'fine'))).toBe(false);
    await apply('box', '--allow', 'executable', '--leave');
    expect(readdirSync(project).sort()).toEqual(['a.txt', 'fine', 'keep.txt', 'run.sh', 'src']);
    expect(statSync(join(project, 'run.sh')).mode & 0o111).not.toBe(0);
  });

  it('prevents the removal of its sandbox until its changes are applied', async () => {
    await carrel.ok('run', '--name', 'box', project, '--', 'sh', '-c', 'echo x > new');
    const refused = await carrel.run(['rm', 'box']);
    expect(refused.exitCode).toBe(6);
    expect(refused.stderr).toContain('carrel diff box');
    const fleeting = ['run', '--rm', '--name', 'fleeting', project, '--', 'sh', '-c', 'echo x > new'];
    expect((await carrel.run(fleeting)).stderr).toContain('fleeting was kept');
    expect(await changes('fleeting')).toEqual(['A new']);
    await apply('box');
    await carrel.ok('rm', 'box');
    await carrel.ok('rm', '--force', 'fleeting');
    await carrel.ok('run', '--rm', '--name', 'clean', project, '--', 'true');
    await until(async () => (await carrel.run(['show', 'clean'])).exitCode === 5, 'it to remove itself');
  });

  it('has a frozen base that edits of the owner do not change', async () => {
    await carrel.ok('create', '--name', 'box', '--base', 'frozen', project);
    put('keep.txt', 'moved\n');
    expect((await agent('box', 'cat keep.txt /.workspace/keep.txt; echo agent >> a.txt')).stdout).toBe('kept\nkept\n');
    expect(await changes('box')).toEqual(['M a.txt']);
    expect(outcomes(await apply('box'))).toEqual(['take a.txt']);
    expect(read('keep.txt')).toBe('moved\n');
    await carrel.ok('rm', '--force', 'box');
    expect(readdirSync(join(carrel.home, 'bases'))).toEqual([]);
  });

  it('discards changes, and brings them back', async () => {
    await carrel.ok('create', '--name', 'box', project);
    await agent('box', 'echo other > new; echo y >> a.txt; rm -r src');
    expect((await carrel.run(['discard', 'box', '--yes'])).exitCode).toBe(6);
    await carrel.ok('stop', '--grace', '0', 'box');
    await carrel.ok('discard', 'box', 'src', '--yes');
    expect(await changes('box')).toEqual(['M a.txt', 'A new']);
    await carrel.ok('discard', 'box', '--yes');
    expect(await changes('box')).toEqual([]);
    const [first] = await carrel.json<SnapshotView[]>('snapshots', 'box');
    await carrel.ok('restore', 'box', first!.id);
    expect(await changes('box')).toEqual(['M a.txt', 'A new', 'D src', 'D src/deep', 'D src/deep/x', 'D src/main.ts']);
  });

  it('discard of . or /workspace discards everything, and needs --yes', async () => {
    await carrel.ok('create', '--name', 'box', project);
    await agent('box', "sed -i '2s/.*/agent/' a.txt");
    put('a.txt', numbers(1, 20).replace('line 18', 'owner'));
    await carrel.ok('stop', '--grace', '0', 'box');
    expect((await carrel.run(['discard', 'box', 'nosuch'])).exitCode).toBe(5);
    for (const all of ['.', './', '/workspace']) expect((await carrel.run(['discard', 'box', all])).exitCode).toBe(2);
    expect(await changes('box')).toEqual(['M a.txt']);
    await carrel.ok('discard', 'box', '.', '--yes');
    expect(await changes('box')).toEqual([]);
    expect(outcomes(await apply('box'))).toEqual([]);
    expect(read('a.txt')).toContain('owner');
  });

  it('after an undo, forks and restored snapshots show the changes again', async () => {
    await carrel.ok('create', '--name', 'box', project);
    await agent('box', 'echo new > new; echo more >> a.txt');
    await apply('box');
    await carrel.ok('snapshot', 'box', 'after');
    await carrel.ok('fork', 'box', 'fork');
    await carrel.ok('undo', 'box');
    const both = ['M a.txt', 'A new'];
    expect(await changes('fork')).toEqual(both);
    await carrel.ok('stop', '--grace', '0', 'box');
    await carrel.ok('restore', 'box', 'after');
    expect(await changes('box')).toEqual(both);
    expect((await carrel.run(['rm', 'box', 'fork'])).exitCode).toBe(6);
  });

  it('removes the snapshots that are named, by id or label, and no other', async () => {
    await carrel.ok('create', '--name', 'box', project);
    for (const label of ['one', 'two', 'three']) await carrel.ok('snapshot', 'box', label);
    expect(await carrel.ok('snapshots', 'box', '--rm', '0001', '--rm', 'three')).toBe(lines('0001', '0003'));
    const left = await carrel.json<SnapshotView[]>('snapshots', 'box');
    expect(left.map(({ label }) => label)).toEqual(['two']);
    expect((await carrel.run(['snapshots', 'box', '--rm', '0001'])).exitCode).toBe(5);
    expect((await carrel.run(['snapshots', 'box', '--rm', '../0002'])).exitCode).toBe(5);
    await carrel.ok('stop', '--grace', '0', 'box');
    await carrel.ok('restore', 'box', 'two');
  });

  it('snapshots a running sandbox, restores it, and undoes the restore', async () => {
    await carrel.ok('create', '--name', 'box', project);
    await agent('box', 'echo one > f; echo one > ~/h; echo one > /.data/d; rm keep.txt');
    const first = await carrel.json<SnapshotView>('snapshot', 'box', 'first');
    await agent('box', 'echo two > f; echo two > ~/h; echo two > /.data/d; rm a.txt');
    expect((await carrel.run(['restore', 'box', 'first'])).exitCode).toBe(6);
    await carrel.ok('stop', '--grace', '0', 'box');
    await carrel.ok('restore', 'box', 'first');
    await carrel.ok('start', 'box');
    const look = async () => (await agent('box', 'cat f ~/h /.data/d; ls')).stdout;
    expect(await look()).toBe(lines('one', 'one', 'one', 'a.txt', 'f', 'src'));
    const snapshots = await carrel.json<SnapshotView[]>('snapshots', 'box');
    expect(snapshots.map(({ label, auto }) => [label, auto])).toContainEqual(['first', false]);
    await carrel.ok('stop', '--grace', '0', 'box');
    const before = snapshots.find(({ auto, id }) => auto && id !== first.id)!;
    await carrel.ok('restore', 'box', before.id);
    await carrel.ok('start', 'box');
    expect(await look()).toBe(lines('two', 'two', 'two', 'f', 'src'));
  });

  it('forks a running sandbox, and a change in one fork does not appear in the others', async () => {
    await carrel.ok('create', '--name', 'box', project);
    await agent('box', 'echo one > f; rm keep.txt; echo h > ~/h');
    expect(await carrel.ok('fork', 'box', 'left', 'right')).toBe('left\nright\n');
    expect((await carrel.show('left')).state).toBe('stopped');
    expect((await carrel.show('box')).state).toBe('running');
    await carrel.ok('start', 'left', 'right');
    await agent('left', 'echo left > f');
    expect((await agent('right', 'cat f ~/h')).stdout).toBe('one\nh\n');
    expect((await agent('box', 'cat f')).stdout).toBe('one\n');
    expect(await changes('left')).toEqual(['A f', 'D keep.txt']);
    expect((await carrel.run(['fork', 'box', 'left'])).exitCode).toBe(6);
  });

  it('merges several sandboxes at once', async () => {
    for (const name of ['one', 'two', 'three']) await carrel.ok('create', '--name', name, project);
    await agent('one', "sed -i '1s/.*/one/' a.txt; echo one > only-one");
    await agent('two', "sed -i '20s/.*/two/' a.txt; echo two > only-two");
    await agent('three', "sed -i '1s/.*/three/' a.txt");
    const clash = await carrel.run(['merge', 'one', 'two', 'three']);
    expect(clash.exitCode).toBe(6);
    expect(clash.stdout + clash.stderr).toContain('one');
    expect(read('a.txt')).toBe(numbers(1, 20));
    await carrel.ok('merge', 'one', 'two');
    expect(read('a.txt')).toBe(`one\n${numbers(2, 19)}two\n`);
    expect([read('only-one'), read('only-two')]).toEqual(['one\n', 'two\n']);
    await carrel.ok('undo', 'two');
    expect(read('a.txt')).toBe(numbers(1, 20));
    expect(existsSync(join(project, 'only-one'))).toBe(false);
  });

  it('diff and apply fail with not found when the project is gone', async () => {
    await carrel.ok('create', '--name', 'box', project);
    await agent('box', 'echo x > new');
    rmSync(project, { recursive: true });
    expect((await agent('box', 'cat new')).stdout).toBe('x\n');
    for (const verb of ['diff', 'apply']) {
      const { exitCode, stderr } = await carrel.run([verb, 'box']);
      expect(stderr).toContain('does not exist any more');
      expect(exitCode).toBe(5);
    }
    await carrel.ok('stop', '--grace', '0', 'box');
    expect((await carrel.run(['start', 'box'])).exitCode).toBe(2);
  });

  it('is needed for diff, which is refused for other sandboxes, and create refuses an impossible mode', async () => {
    await carrel.ok('create', '--name', 'none');
    await carrel.ok('create', '--name', 'bound', '--mode', 'bind', project);
    for (const name of ['none', 'bound']) {
      const { exitCode, stderr } = await carrel.run(['diff', name]);
      expect(stderr).toContain('no working copy');
      expect(exitCode).toBe(3);
    }
    expect((await carrel.run(['create', '--mode', 'overlay'])).exitCode).toBe(2);
    expect((await carrel.run(['create', '--mode', 'bind', '--base', 'frozen', project])).exitCode).toBe(2);
    expect((await carrel.run(['create', '--mode', 'clone', project])).exitCode).toBe(2);
  });
}

/** Every path with its type, mode, owner and content. */
function snapshotOf(folder: string): string {
  const list = execFileSync('find', [folder, '-printf', '%P %y %m %U %l\n']).toString().split('\n').sort().join('\n');
  const sums = execFileSync('sh', ['-c', 'find "$1" -type f -exec sha256sum {} +', 'sh', folder]).toString();
  return `${list}\n${sums.split('\n').sort().join('\n')}`;
}
