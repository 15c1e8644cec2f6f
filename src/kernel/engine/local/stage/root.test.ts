import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Mount } from '../../../../model/mount.ts';
import { fillSkeleton, hostProgramMounts } from './root.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-root-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the programs of the host', () => {
  const make = (...names: string[]) => {
    for (const name of names) mkdirSync(join(folder, name), { recursive: true });
  };

  it('are its /usr and the folders beside it that are no links into it', () => {
    make('usr/bin', 'usr/lib', 'lib64', 'root', 'home', 'etc/ssh');
    symlinkSync('usr/bin', join(folder, 'bin'));
    symlinkSync('usr/lib', join(folder, 'lib'));
    expect(hostProgramMounts(folder).map(({ target }) => target)).toEqual(['/usr', '/lib64']);
  });

  it('have only those parts of /etc that are not private, and are read-only', () => {
    make('usr', 'etc/ssl/certs', 'etc/ssl/private', 'etc/alternatives', 'etc/ssh');
    const mounts = hostProgramMounts(folder);
    expect(mounts.map(({ target }) => target)).toEqual(['/usr', '/etc/alternatives', '/etc/ssl/certs']);
    expect(mounts.every((mount) => mount.kind === 'bind' && mount.readonly)).toBe(true);
  });

  it('are named by their real paths, because a mount does not follow a link', () => {
    make('usr', 'etc/ssl', 'elsewhere');
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'etc/ssl/certs'));
    expect(hostProgramMounts(folder).at(-1)).toMatchObject({ source: join(folder, 'elsewhere') });
  });
});

describe('the skeleton', () => {
  const filled = (mounts: readonly Mount[] = [], hostPrograms = false) => {
    const root = join(folder, 'root');
    mkdirSync(root);
    fillSkeleton(root, { hostname: 'box', mounts, ownerId: process.getuid!(), hostPrograms });
    return (path: string) => join(root, path);
  };
  const bind = (source: string, target: string): Mount => ({ kind: 'bind', source, target, readonly: false });

  it('names the sandbox, and nobody of the host', () => {
    const at = filled();
    expect(readFileSync(at('etc/hostname'), 'utf8')).toBe('box\n');
    expect(readFileSync(at('etc/hosts'), 'utf8')).toContain('127.0.0.1 localhost box');
    const accounts = readFileSync(at('etc/passwd'), 'utf8').trim().split('\n');
    expect(accounts.map((line) => line.split(':')[0])).toEqual(['root', 'agent', 'nobody']);
    expect(readlinkSync(at('var/tmp'))).toBe('../tmp');
  });

  it('has links to programs and files of their /etc only with the programs of the host', () => {
    const at = filled();
    expect(readdirSync(dirname(at('etc')))).not.toContain('bin');
    expect(existsSync(at('etc/ld.so.cache'))).toBe(false);
  });

  it('has a place for each mount: a folder, or an empty file for a file', () => {
    writeFileSync(join(folder, 'file'), 'of the host');
    mkdirSync(join(folder, 'tree'));
    const at = filled([
      bind(join(folder, 'tree'), '/data/deep/er'),
      bind(join(folder, 'file'), '/run/carrel/file'),
      { kind: 'overlay', lower: folder, folder, target: '/workspace' },
      bind(join(folder, 'tree'), '/workspace/inner'),
      { kind: 'tmpfs', target: '/cache', sizeBytes: 1, mode: 0o700 },
    ]);
    expect(statSync(at('data/deep/er')).isDirectory()).toBe(true);
    expect(readFileSync(at('run/carrel/file'), 'utf8')).toBe('');
    expect(statSync(at('workspace/inner')).isDirectory()).toBe(true);
    expect(statSync(at('cache')).mode & 0o777).toBe(0o700);
  });

  it('keeps its own file where a mount of a file covers it', () => {
    writeFileSync(join(folder, 'file'), 'of the host');
    const at = filled([bind(join(folder, 'file'), '/etc/hosts')]);
    expect(readFileSync(at('etc/hosts'), 'utf8')).toContain('localhost');
  });
});
