/** Frozen bases, made from projects that others are changing. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  existsSync,
  lchownSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { removeTree } from '../../src/lib/file/file.ts';
import { cloneRepository, copyTree } from '../../src/noun/workspace/base.ts';
import { gitOutput } from '../../src/noun/workspace/git/git.ts';
import { withProjectGit } from '../../src/noun/workspace/git/project-git.ts';
import { isRealRoot } from '../harness/machine.ts';
import { otherUid, Repository } from '../harness/repository.ts';

/** The calls that were made, in order. */
const done = vi.hoisted(() => [] as string[]);
vi.mock('../../src/lib/sys/sys.ts', async (original) => {
  const real = await original<typeof import('../../src/lib/sys/sys.ts')>();
  return { ...real, syncFilesystem: (fd: number) => [done.push('sync all'), real.syncFilesystem(fd)] };
});
vi.mock('../../src/lib/file/file.ts', async (original) => {
  const real = await original<typeof import('../../src/lib/file/file.ts')>();
  return { ...real, syncFolder: (path: string) => [done.push('sync folder'), real.syncFolder(path)] };
});
vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>();
  return { ...real, renameSync: (from: string, to: string) => [done.push('rename'), real.renameSync(from, to)] };
});

const root = realpathSync(mkdtempSync(join(tmpdir(), 'carrel-base-')));
chmodSync(root, 0o755);
afterAll(() => removeTree(root));
let folder: string;
let [project, base] = ['', ''];
beforeEach(() => {
  folder = mkdtempSync(join(root, 'one-'));
  chmodSync(folder, 0o755);
  [project, base] = [join(folder, 'project'), join(folder, 'bases/base')];
  mkdirSync(project);
  done.length = 0;
});

function described(path: string | Buffer) {
  const { mode, uid, gid, size, mtimeNs, nlink } = lstatSync(path, { bigint: true });
  return { mode, uid, gid, size: (mode & 0o170000n) === 0o100000n ? size : 0n, mtimeNs, nlink };
}

describe('a copy', () => {
  it('has everything that its original has', async () => {
    mkdirSync(join(project, 'd/e'), { recursive: true });
    writeFileSync(join(project, 'd/f'), 'f');
    writeFileSync(Buffer.concat([Buffer.from(`${project}/`), Buffer.from([0xff, 0x0a])]), 'bytes');
    writeFileSync(join(project, 'empty'), '', { mode: 0o400 });
    symlinkSync('/etc/passwd', join(project, 'd/link'));
    chmodSync(join(project, 'd/f'), 0o6751);
    chmodSync(join(project, 'd/e'), 0o1500);
    if (isRealRoot) for (const path of ['d', 'd/link', 'empty']) lchownSync(join(project, path), 12345, 12346);
    if (isRealRoot) lchownSync(project, 12345, 12346);
    for (const path of ['d/link', 'd/f', 'd/e', 'd', '']) lutimesSync(join(project, path), 1, 1234567890.123);
    await copyTree(project, base);
    for (const path of ['', 'd', 'd/e', 'd/f', 'd/link', 'empty'])
      expect(described(join(base, path)), path).toEqual(described(join(project, path)));
    expect(readdirSync(base, { encoding: 'latin1', recursive: true }).sort()).toEqual(
      readdirSync(project, { encoding: 'latin1', recursive: true }).sort(),
    );
    expect(readFileSync(join(base, 'd/f'), 'utf8')).toBe('f');
    expect(existsSync(`${base}.new`)).toBe(false);
  });

  it('has the same hard links as its original', async () => {
    for (const name of ['a', 'single']) writeFileSync(join(project, name), name);
    mkdirSync(join(project, 'folder'));
    for (const name of ['b', 'folder/c']) linkSync(join(project, 'a'), join(project, name));
    linkSync(join(project, 'single'), join(folder, 'outside'));
    await copyTree(project, base);
    const stats = (name: string) => statSync(join(base, name));
    expect(['a', 'b', 'folder/c'].map((name) => stats(name).ino)).toEqual(Array(3).fill(stats('a').ino));
    expect([stats('a').nlink, stats('single').nlink]).toEqual([3, 1]);
  });

  it('keeps times to the nanosecond, so that unchanged files are recognised', async () => {
    writeFileSync(join(project, 'f'), 'f');
    await copyTree(project, base);
    expect(lstatSync(join(base, 'f'), { bigint: true }).mtimeNs).toBe(
      lstatSync(join(project, 'f'), { bigint: true }).mtimeNs,
    );
  });

  it('has the same holes as its original, and leaves out FIFOs', async () => {
    const huge = 1024 ** 4;
    writeFileSync(join(project, 'sparse'), 'begin');
    truncateSync(join(project, 'sparse'), huge);
    appendFileSync(join(project, 'sparse'), 'end');
    spawnSync('mkfifo', [join(project, 'fifo')]);
    await copyTree(project, base);
    const at = (position: number, length: number) => {
      const fd = openSync(join(base, 'sparse'), 'r');
      const bytes = Buffer.alloc(length);
      readSync(fd, bytes, 0, length, position);
      closeSync(fd);
      return bytes.toString();
    };
    expect(statSync(join(base, 'sparse')).size).toBe(huge + 3);
    expect([at(0, 5), at(5, 5), at(huge, 3)]).toEqual(['begin', '\0'.repeat(5), 'end']);
    expect(statSync(join(base, 'sparse')).blocks).toBeLessThan(4096);
    expect(readdirSync(base)).toEqual(['sparse']);
  });

  it('includes folders deeper than the longest path', async () => {
    const dig = `
import os, sys
os.chdir(sys.argv[1])
for _ in range(600):
    os.mkdir('0123456789'); os.chdir('0123456789')
open('f', 'w').write('deep\\n')
`;
    expect(spawnSync('/usr/bin/python3', ['-c', dig, project]).status).toBe(0);
    const before = readdirSync('/proc/self/fd').length;
    await copyTree(project, base);
    const found = spawnSync('find', [base, '-name', 'f', '-printf', '%d', '-execdir', 'cat', '{}', ';']);
    expect(found.stdout.toString()).toBe('601deep\n');
    expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before);
    await removeTree(folder);
  });

  it('is renamed into place after it was synced', async () => {
    writeFileSync(join(project, 'f'), 'f');
    await copyTree(project, base);
    expect(done).toEqual(['sync all', 'rename', 'sync folder']);
    await copyTree(join(folder, 'elsewhere'), base);
    expect(done).toHaveLength(3);
  });

  it('is refused if a link leads to its original, or there is none', async () => {
    symlinkSync('project', join(folder, 'link'));
    await expect(copyTree(join(folder, 'link'), base)).rejects.toMatchObject({ code: 'invalid' });
    await expect(copyTree(join(folder, 'nothing'), base)).rejects.toMatchObject({ code: 'invalid' });
    expect(readdirSync(join(folder, 'bases'))).toEqual([]);
  });

  describe('next to other filesystems', () => {
    const mounted: string[] = [];
    const mount = (path: string, size: string) => {
      mkdirSync(path, { recursive: true });
      expect(spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path]).status).toBe(0);
      mounted.push(path);
    };
    afterEach(() => {
      for (const path of mounted.splice(0)) spawnSync('umount', [path]);
    });

    it('leaves out filesystems that are mounted in its original', async () => {
      mount(join(project, 'mounted'), '1m');
      writeFileSync(join(project, 'mounted/f'), 'f');
      await copyTree(project, base);
      expect(readdirSync(base, { recursive: true })).toEqual(['mounted']);
    });

    it('fails with the path if there is no space', async () => {
      mount(join(folder, 'bases'), '1m');
      writeFileSync(join(project, 'f'), Buffer.alloc(2 * 1024 ** 2, 'x'));
      await expect(copyTree(project, base)).rejects.toMatchObject({
        code: 'exhausted',
        message: expect.stringContaining(`${project}/f`),
      });
      expect(readdirSync(join(folder, 'bases'))).toEqual([]);
    });
  });
});

describe('a project in which folders are swapped for links all the time', () => {
  const swapper = `
    import { openSync } from 'node:fs';
    import { renameExchange } from ${JSON.stringify(join(process.cwd(), 'dist/lib/sys/sys.js'))};
    const folderFd = openSync(process.argv[1], 'r');
    const pairs = ['d', 'f'].map((name) => [name, name + '-link'].map((one) => ({ folderFd, name: Buffer.from(one) })));
    process.stdout.write('begun');
    for (;;) for (const [one, other] of pairs) renameExchange(one, other);
  `;

  it('is copied without anything from outside', async () => {
    const outside = join(folder, 'outside');
    mkdirSync(outside);
    mkdirSync(join(project, 'd'));
    const names = Array.from({ length: 100 }, (_, n) => `${n}`);
    for (const name of names) writeFileSync(join(project, 'd', name), 'inside');
    for (const name of names) writeFileSync(join(outside, name), 'secret');
    writeFileSync(join(project, 'f'), 'inside');
    symlinkSync(outside, join(project, 'd-link'));
    symlinkSync(join(outside, '0'), join(project, 'f-link'));
    const child = spawn(process.execPath, ['--input-type=module', '-e', swapper, project], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      await once(child.stdout, 'data');
      let copied = 0;
      for (let n = 0; n < 40 || copied === 0; n += 1)
        await copyTree(project, join(folder, `bases/${n}`)).then(
          () => {
            copied += 1;
          },
          (error: unknown) => expect(error).toMatchObject({ code: 'conflict' }),
        );
      const found = spawnSync('grep', ['-rl', 'secret', join(folder, 'bases')]);
      expect(found.stdout.toString()).toBe('');
    } finally {
      child.kill('SIGKILL');
      await once(child, 'close');
    }
  });
});

describe('a clone', () => {
  it('has the committed files, on a branch of its own', async () => {
    const repository = new Repository(folder, { a: 'a\n', 'd/b': 'b\n' });
    repository.git('branch', 'other');
    writeFileSync(join(repository.path, 'a'), 'dirty\n');
    repository.give(otherUid);
    await cloneRepository(repository.path, base, 'carrel/box');
    expect(readFileSync(join(base, 'a'), 'utf8')).toBe('a\n');
    const said = spawnSync('git', ['-C', base, '-c', 'safe.directory=*', 'status', '-b', '--porcelain']);
    expect(said.stdout.toString()).toBe('## carrel/box\n');
    expect(readdirSync(join(folder, 'bases'))).toEqual(['base']);
    expect(done).toEqual(['sync all', 'rename', 'sync folder']);
  });

  it('is refused for a folder without a repository, and for a repository without a commit', async () => {
    await expect(cloneRepository(project, base, 'b')).rejects.toMatchObject({ code: 'invalid' });
    spawnSync('git', ['init', '-q', project]);
    await expect(cloneRepository(project, base, 'b')).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('cannot be cloned'),
    });
    expect(readdirSync(join(folder, 'bases'))).toEqual([]);
  });

  it('runs no program that the repository names to fetch missing objects', async () => {
    const repository = new Repository(folder, { a: 'a\n' });
    const blob = repository.git('rev-parse', 'HEAD:a');
    rmSync(join(repository.path, '.git/objects', blob.slice(0, 2), blob.slice(2)));
    const [ran, program] = [join(folder, 'ran'), join(folder, 'program')];
    writeFileSync(program, `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
    for (const [key, value] of [
      ['core.repositoryFormatVersion', '1'],
      ['extensions.partialClone', 'origin'],
      ['remote.origin.url', 'ssh://nowhere/x'],
      ['remote.origin.promisor', 'true'],
      ['core.sshCommand', program],
      ['protocol.allow', 'always'],
      ['protocol.ssh.allow', 'always'],
    ])
      repository.git('config', key!, value!);
    for (const url of ['ssh://nowhere/x', `ext::${program}`]) {
      repository.git('config', 'remote.origin.url', url);
      repository.git('config', 'protocol.ext.allow', 'always');
      await expect(cloneRepository(repository.path, base, 'b')).rejects.toMatchObject({ code: 'invalid' });
      expect(existsSync(ran), url).toBe(false);
    }
    // Git would have run it without our settings.
    repository.git('config', 'core.sshCommand', program);
    spawnSync('git', ['-C', repository.path, 'cat-file', '-p', blob]);
    expect(existsSync(ran)).toBe(true);
  });

  it('reads the folder that was the project when it began, whatever took its place', async () => {
    const [one, other] = [new Repository(folder, { a: 'one\n' }), new Repository(folder, { a: 'other\n' })];
    const show = (path: string, act: () => void) =>
      withProjectGit(path, async (git) => {
        act();
        return (await gitOutput(git!, ['cat-file', '-p', 'HEAD:a'])).toString();
      });
    one.give(otherUid);
    const swap = () => {
      renameSync(one.path, `${one.path}-away`);
      symlinkSync(other.path, one.path);
    };
    expect(await show(one.path, swap)).toBe('one\n');
    await expect(show(one.path, () => {})).rejects.toThrow(/ELOOP|ENOTDIR/);
  });
});
