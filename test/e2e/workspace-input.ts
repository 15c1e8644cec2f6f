/**
 * Invalid projects, odd paths, wrong requests, and machines on which an overlay or a disk of a fixed size is
 * impossible.
 */
import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SnapshotView } from '../../src/noun/workspace/api.ts';
import { Installation } from '../harness/installation.ts';
import { isRealRoot } from '../harness/machine.ts';
import { agent, apply, changesOf, numbers, outcomes, Project, stateOf, type Way, ways } from '../harness/project.ts';
import { createRootlessAccount, type RootlessAccount } from '../harness/rootless.ts';

export function oddInput(way: Way): void {
  let account: RootlessAccount | null;
  let carrel: Installation;
  let project: Project;

  beforeAll(async () => {
    account = way === 'rootless' && isRealRoot ? createRootlessAccount() : null;
    carrel = new Installation(account);
    project = new Project(carrel.folder('project'), { 'a.txt': numbers(1, 20), 'src/b': 'b\n' });
    await carrel.ok('create', '--name', 'box', project.path);
    await carrel.ok('create', '--name', 'twin', project.path);
    await carrel.ok('create', '--name', 'other', new Project(carrel.folder('elsewhere'), { x: 'x\n' }).path);
    await agent(carrel, 'box', 'echo more >> a.txt; echo n > new');
    await agent(carrel, 'twin', 'echo t > twin');
    await agent(carrel, 'other', 'echo more >> x');
    await carrel.ok('snapshot', 'box', 'first');
  });
  afterAll(async () => {
    await carrel.dispose();
    account?.dispose();
  });

  const names = async () => (await carrel.list()).map(({ name }) => name).sort();

  describe('a project', () => {
    const refused = async (path: string, code: number, words: string) => {
      const before = await names();
      const { exitCode, stderr } = await carrel.run(['create', '--name', 'no', path]);
      expect(stderr).toContain(words);
      expect(exitCode).toBe(code);
      expect(await names()).toEqual(before);
    };

    it('that is missing, is no folder, or is part of the home is refused, and no sandbox is made', async () => {
      writeFileSync(project.at('file'), 'x');
      await refused(project.at('no/such'), 2, 'does not exist');
      await refused(project.at('file'), 2, 'is not a folder');
      await refused('/', 2, 'cannot be a project');
      await refused(carrel.home, 2, 'cannot be a project');
      await refused(join(carrel.home, 'sandboxes'), 2, 'cannot be a project');
      await refused(join(carrel.home, '..'), 2, 'cannot be a project');
      execFileSync('rm', [project.at('file')]);
    });

    // Root can read everything.
    if (way === 'rootless' && isRealRoot)
      it('that cannot be read is refused', async () => {
        const secret = join(project.path, '../secret');
        mkdirSync(secret, { mode: 0o700 });
        await refused(secret, 4, 'it may not be read');
        const partly = new Project(carrel.folder('partly'), { f: 'f\n' });
        writeFileSync(partly.at('carrel.yaml'), 'network: none\n', { mode: 0o600 });
        await refused(partly.path, 4, 'the daemon may not read');
      });

    it.each([
      'a,b',
      'a:b',
      'with space',
      'new\nline',
      'back\\slash',
      'ünïcode',
      'quo\'te"s',
      '-dash',
      'a=b,upperdir=c',
    ])('may be called %j', async (name) => {
      const odd = new Project(carrel.folder(name), { file: 'before\n' });
      await carrel.ok('create', '--name', 'odd', odd.path);
      expect(await agent(carrel, 'odd', 'cat file /.workspace/file; echo after > file; echo n > new')).toBe(
        'before\nbefore\n',
      );
      expect(odd.read('file')).toBe('before\n');
      expect(await changesOf(carrel, 'odd')).toEqual(['M file', 'A new']);
      expect(outcomes(await apply(carrel, 'odd'))).toEqual(['take file', 'take new']);
      expect([odd.read('file'), odd.read('new')]).toEqual(['after\n', 'n\n']);
      await carrel.ok('rm', '--force', 'odd');
    });

    if (way === 'root')
      it('on a filesystem that was mounted after the daemon started is refused with a hint', async () => {
        const place = carrel.folder('place');
        await carrel.ok('up', '-d');
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=755', 'carrel-test', place]);
        try {
          mkdirSync(join(place, 'below'));
          for (const path of [place, join(place, 'below')]) {
            const { exitCode, stderr } = await carrel.run(['create', '--name', 'no', path]);
            expect(exitCode).toBe(6);
            expect(stderr).toMatch(/another folder for the daemon than for you(?:.|\n)*carrel down, and again/);
          }
          await carrel.ok('down');
          expect(await carrel.ok('run', '--rm', place, '--', 'ls', '/workspace')).toBe('below\n');
        } finally {
          await carrel.ok('down');
          execFileSync('umount', [place]);
        }
      });

    it('inside another has separate changes in each sandbox', async () => {
      const outer = new Project(carrel.folder('outer'), { 'inner/f': 'f\n', o: 'o\n' });
      await carrel.ok('create', '--name', 'outer', outer.path);
      await carrel.ok('create', '--name', 'inner', outer.at('inner'));
      await agent(carrel, 'outer', 'echo outer > inner/f; echo x > inner/by-outer');
      await agent(carrel, 'inner', 'echo x > by-inner');
      expect(await changesOf(carrel, 'outer')).toEqual(['A inner/by-outer', 'M inner/f']);
      expect(await changesOf(carrel, 'inner')).toEqual(['A by-inner']);
      expect(await agent(carrel, 'inner', 'cat f; ls')).toBe('f\nby-inner\nf\n');
      await apply(carrel, 'inner');
      expect(await agent(carrel, 'outer', 'cat inner/f inner/by-inner')).toBe('outer\nx\n');
      await apply(carrel, 'outer');
      expect(outer.read('inner/f')).toBe('outer\n');
      expect(readdirSync(outer.at('inner')).sort()).toEqual(['by-inner', 'by-outer', 'f']);
      await carrel.ok('rm', '--force', 'outer', 'inner');
    });
  });

  describe('a request', () => {
    // The account of the daemon makes no difference here.
    if (way === ways[0])
      it.each([
        [['diff', 'box', '../x'], 2, 'not a path in the workspace'],
        [['diff', 'box', 'src/../../x'], 2, 'not a path in the workspace'],
        [['diff', 'box', '/etc/passwd'], 2, 'is outside of the project'],
        [['diff', 'box', '/workspaces/a.txt'], 2, 'is outside of the project'],
        [['apply', 'box', '../x'], 2, 'not a path in the workspace'],
        [['apply', 'box', '/etc/passwd'], 2, 'is outside of the project'],
        [['apply', 'box', ''], 2, 'the path is empty'],
        [['patch', 'box', '/etc/passwd'], 2, 'is outside of the project'],
        [['discard', 'box', '../x'], 2, 'not a path in the workspace'],
        [['discard', 'box'], 2, '--yes'],
        [['diff', 'box', '--stat', '--name-status'], 2, 'exclude each other'],
        [['apply', 'box', '--theirs', '--ours'], 2, 'exclude each other'],
        [['apply', 'box', '--allow', 'everything'], 2, 'not a kind of change'],
        [['apply', 'box', '-m', 'x'], 2, '--branch'],
        [['apply', 'nosuch'], 5, 'no sandbox nosuch'],
        [['snapshot', 'box', '../x'], 2, 'cannot be the name of a snapshot'],
        [['snapshot', 'box', 'a\u001b[31m'], 2, 'cannot be the name of a snapshot'],
        [['snapshot', 'box', 'a'.repeat(64)], 2, 'LABEL: '],
        [['snapshot', 'box', ''], 2, ''],
        [['restore', 'box', 'first'], 6, 'is running'],
        [['restore', 'box', 'nosuch'], 5, 'no snapshot nosuch'],
        [['restore', 'box', '../0001'], 5, 'no snapshot'],
        [['fork', 'box', 'twin'], 6, 'exists already'],
        [['fork', 'box', 'Bad Name'], 2, 'is not a sandbox name'],
        [['fork', 'box', 'same', 'same'], 2, 'twice'],
        [['undo', 'box'], 5, 'nothing of box was applied'],
        [['merge', 'box', 'box'], 2, 'twice'],
        [['merge', 'box', 'other'], 2, 'different projects'],
        [['merge', 'box', 'nosuch'], 5, 'no sandbox nosuch'],
        [['merge', 'box'], 2, 'NAME'],
        [['diff', 'box', 'src'], 5, 'nothing changed at src'],
        [['apply', 'box', 'new', 'no/such'], 5, 'nothing changed at no/such'],
      ])('%j exits with %i and changes nothing', async (args, code, words) => {
        const before = stateOf(project.path);
        const { exitCode, stdout, stderr } = await carrel.run(args);
        expect(stderr).toContain(words);
        expect(stderr).toMatch(/^carrel: /);
        expect(stderr).not.toContain('\u001b');
        expect([exitCode, stdout]).toEqual([code, '']);
        expect(stateOf(project.path)).toBe(before);
        expect(await changesOf(carrel, 'box')).toEqual(['M a.txt', 'A new']);
        expect(await names()).toEqual(['box', 'other', 'twin']);
        expect(await carrel.json<SnapshotView[]>('snapshots', 'box')).toHaveLength(1);
      });

    it('may name paths as in the project or as in the sandbox', async () => {
      for (const path of ['new', './new', '/workspace/new', '/workspace//new/'])
        expect(outcomes(await apply(carrel, 'box', path, '--dry-run'))).toEqual(['take new']);
    });

    it('waits for another one that is at work', async () => {
      await agent(
        carrel,
        'box',
        'for d in $(seq 20); do mkdir ~/$d; for n in $(seq 100); do echo $n > ~/$d/$n; done; done',
      );
      const [taken, ...looks] = await Promise.all([
        carrel.run(['snapshot', 'box', 'whole']),
        ...Array.from({ length: 4 }, () => carrel.run(['diff', '--name-status', 'box'])),
      ]);
      expect(taken).toMatchObject({ exitCode: 0, stderr: '' });
      for (const look of looks) expect(look.stdout).toBe('M\ta.txt\nA\tnew\n');
      await agent(carrel, 'box', 'rm -r ~/*');
      await carrel.ok('stop', '--grace', '0', 'box');
      await carrel.ok('restore', 'box', 'whole');
      await carrel.ok('start', 'box');
      expect(await agent(carrel, 'box', 'find ~ -type f | wc -l')).toBe('2000\n');
    });
  });

  describe('--disk 32m', () => {
    const fill = 'head -c 200m /dev/zero > big';

    if (way === 'root')
      it('fills up inside only, and has space again once a file is removed', async () => {
        const full = new Project(carrel.folder('full'), { a: 'a\n' });
        await carrel.ok('create', '--name', 'small', '--disk', '32m', full.path);
        expect((await carrel.show('small')).limits).toMatchObject({ diskBytes: 32 * 1024 ** 2, advisory: [] });
        for (const place of ['/workspace', '~', '/.data']) {
          const { exitCode, stderr } = await carrel.run(['exec', 'small', '--', 'sh', '-c', `cd ${place}; ${fill}`]);
          expect(stderr).toContain('No space left on device');
          expect(exitCode).not.toBe(0);
          expect(await agent(carrel, 'twin', 'echo t > twin; head -c 1m /dev/zero | wc -c')).toBe('1048576\n');
          await agent(carrel, 'small', `cd ${place}; rm big; echo x > again`);
        }
        expect(await changesOf(carrel, 'small')).toEqual(['A again']);
        const sizes = await carrel.json<{ name: string; sizeBytes: number }[]>('ls', '--size');
        expect(sizes.find(({ name }) => name === 'small')!.sizeBytes).toBeLessThan(40 * 1024 ** 2);
        await apply(carrel, 'small');
        expect(full.read('again')).toBe('x\n');
        await carrel.ok('fork', 'small', 'smaller');
        await carrel.ok('start', 'smaller');
        expect((await carrel.run(['exec', 'smaller', '--', 'sh', '-c', fill])).stderr).toContain('No space left');
        await carrel.ok('rm', '--force', 'small', 'smaller');
      });

    if (way === 'rootless')
      it('is advisory', async () => {
        await carrel.ok('create', '--name', 'small', '--disk', '32m', project.path);
        expect((await carrel.show('small')).limits.advisory).toContain('diskBytes');
        await carrel.ok('rm', '--force', 'small');
      });

    it('is not needed for ls --size', async () => {
      await agent(carrel, 'twin', 'head -c 3000000 /dev/urandom > ~/big');
      const [listed] = (await carrel.json<{ name: string; sizeBytes: number }[]>('ls', '--size')).filter(
        ({ name }) => name === 'twin',
      );
      expect(listed!.sizeBytes).toBeGreaterThan(3_000_000);
      expect(listed!.sizeBytes).toBeLessThan(4_000_000);
      expect(await carrel.ok('ls', '--size')).toMatch(/^NAME +STATE +SIZE /);
    });
  });

  if (isRealRoot)
    describe('a project on which no overlay is possible', () => {
      let stacked: string;
      let single: string;
      beforeAll(async () => {
        // A daemon sees only what was mounted before it started.
        await carrel.ok('down');
        stacked = carrel.folder('stacked');
        stack(stacked, 2);
        chownSync(stacked, project.owner.uid, project.owner.gid);
        single = carrel.folder('single');
        stack(single, 1);
        chownSync(single, project.owner.uid, project.owner.gid);
      });
      afterAll(async () => {
        await carrel.ok('down');
        for (const folder of [stacked, stacked, single]) execFileSync('umount', ['-l', folder]);
      });

      it('files of a filesystem that cannot show its owner as agent can be changed, too', async () => {
        const flat = new Project(single, { 'a.txt': 'a\n' });
        await carrel.ok('create', '--name', 'flat', flat.path);
        await agent(carrel, 'flat', 'echo b >> a.txt');
        await apply(carrel, 'flat');
        expect(flat.read('a.txt')).toBe('a\nb\n');
        await carrel.ok('rm', '--force', 'flat');
      });

      it('a whole copy supports changes, snapshots and forks', async () => {
        const deep = new Project(stacked, { 'a.txt': numbers(1, 20), 'src/b': 'b\n', 'src/c': 'c\n' });
        const { exitCode, stderr } = await carrel.run(['create', '--name', 'whole', deep.path]);
        expect(exitCode).toBe(0);
        expect(stderr).toContain('overlay is not possible here');
        expect((await carrel.show('whole')).workspace).toEqual({ kind: 'copy', base: 'frozen' });
        await agent(carrel, 'whole', "sed -i '1s/.*/agent/' a.txt; rm src/b; echo n > new; echo h > ~/h");
        expect(await changesOf(carrel, 'whole')).toEqual(['M a.txt', 'A new', 'D src/b']);
        await carrel.ok('snapshot', 'whole', 'first');
        await carrel.ok('fork', 'whole', 'forked');
        await carrel.ok('start', 'forked');
        expect(await agent(carrel, 'forked', 'head -1 a.txt; cat ~/h; ls src; echo f > by-fork')).toBe('agent\nh\nc\n');
        deep.put('a.txt', `${numbers(1, 19)}owner\n`);
        const before = stateOf(deep.path);
        expect(outcomes(await apply(carrel, 'whole'))).toEqual(['merge a.txt', 'take new', 'take src/b']);
        expect(deep.read('a.txt')).toBe(`agent\n${numbers(2, 19)}owner\n`);
        expect(await changesOf(carrel, 'whole')).toEqual([]);
        await carrel.ok('undo', 'whole');
        expect(stateOf(deep.path)).toBe(before);
        await carrel.ok('stop', '--grace', '0', 'whole');
        await carrel.ok('discard', 'whole', '--yes');
        expect(await changesOf(carrel, 'whole')).toEqual([]);
        await carrel.ok('restore', 'whole', 'first');
        expect(await changesOf(carrel, 'whole')).toEqual(['M a.txt', 'A new', 'D src/b']);
        expect(await changesOf(carrel, 'forked')).toEqual(['M a.txt', 'A by-fork', 'A new', 'D src/b']);
        await carrel.ok('rm', '--force', 'whole', 'forked');
        expect(readdirSync(join(carrel.home, 'bases'))).toEqual([]);
      });
    });
}

/** Mounts overlays upon each other; the kernel refuses one more on top of two. */
function stack(folder: string, layers: number): void {
  for (let layer = 0; layer < layers; layer += 1) {
    const [upper, work] = ['upper', 'work'].map((name) => `${folder}-${layer}-${name}`);
    for (const path of [upper!, work!]) mkdirSync(path);
    const options = `lowerdir=${folder},upperdir=${upper},workdir=${work}`;
    execFileSync('mount', ['-t', 'overlay', '-o', options, 'carrel-test', folder]);
  }
}
