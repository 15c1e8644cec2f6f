import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { projectFolder, realHostPath } from './host-path.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'carrel-paths-')));
  for (const folder of ['home/.carrel', 'mono/app', 'other']) mkdirSync(join(root, folder), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true }));

describe('a path of the host', () => {
  it('is resolved through links of its owner and through dots', () => {
    symlinkSync('mono', join(root, 'link'));
    symlinkSync(join(root, 'other'), join(root, 'mono/away'));
    expect(realHostPath(`${root}/link/./app/../away`, [])).toBe(join(root, 'other'));
  });

  it('is refused through a link in a folder that a sandbox can write', () => {
    symlinkSync('/etc', join(root, 'mono/planted'));
    expect(() => realHostPath(join(root, 'mono/planted'), [join(root, 'mono')])).toThrow(
      'a link that a sandbox may have made',
    );
    symlinkSync('mono/planted', join(root, 'indirect'));
    expect(() => realHostPath(join(root, 'indirect'), [join(root, 'mono')])).toThrow(
      'a link that a sandbox may have made',
    );
    expect(realHostPath(join(root, 'mono/app'), [join(root, 'mono')])).toBe(join(root, 'mono/app'));
  });

  it('that loops, is missing or relative is refused', () => {
    symlinkSync('loop', join(root, 'loop'));
    for (const path of [join(root, 'loop'), join(root, 'nosuch'), 'relative']) {
      expect(() => realHostPath(path, [])).toThrow('does not exist');
    }
  });
});

describe('a project', () => {
  const home = () => join(root, 'home/.carrel');
  const rules = () => ({ home: home(), open: [], sockets: [] });

  it('is a folder', () => {
    writeFileSync(join(root, 'file'), '');
    expect(() => projectFolder(join(root, 'file'), rules())).toThrow('is not a folder');
    expect(projectFolder(join(root, 'mono'), rules())).toBe(join(root, 'mono'));
  });

  it('may not contain a socket of an engine, reached by any path', () => {
    mkdirSync(join(root, 'run/docker'), { recursive: true });
    writeFileSync(join(root, 'run/docker/docker.sock'), '');
    symlinkSync('run', join(root, 'var-run'));
    const sockets = [join(root, 'nosuch.sock'), join(root, 'var-run/docker/docker.sock')];
    for (const path of ['run', 'run/docker', 'var-run']) {
      expect(() => projectFolder(join(root, path), { ...rules(), sockets })).toThrow('could become root');
    }
    expect(projectFolder(join(root, 'mono'), { ...rules(), sockets })).toBe(join(root, 'mono'));
  });

  it('may neither contain the home nor be inside it, by any name of either', () => {
    symlinkSync('home', join(root, 'alias'));
    const aliasOfHome = join(root, 'alias/.carrel');
    for (const path of ['/', join(root, 'home'), join(root, 'alias'), home(), aliasOfHome]) {
      for (const own of [home(), aliasOfHome])
        expect(() => projectFolder(path, { ...rules(), home: own })).toThrow('cannot be a project');
    }
  });
});
