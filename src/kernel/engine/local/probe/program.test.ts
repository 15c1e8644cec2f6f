import { describe, expect, it } from 'vitest';
import { initRow, keeperRow, runtimeRows, toolRow, unshareRow } from './program.ts';

const crun = {
  name: 'crun',
  path: '/usr/bin/crun',
  version: 'crun version 1.8.1\ncommit: f8a0\n+SYSTEMD +CAP +SECCOMP +EBPF +YAJL\n',
};
const runc = { name: 'runc', path: '/usr/sbin/runc', version: 'runc version 1.1.5\ngo: go1.19.8\nlibseccomp: 2.5.4\n' };
const runsc = { name: 'runsc', path: '/usr/bin/runsc', version: 'runsc version release-20240101.0\nspec: 1.1.0\n' };

describe('runtimes', () => {
  it('have a row each', () => {
    expect(runtimeRows([crun, runc]).map(({ name, level, detail }) => [name, level, detail])).toEqual([
      ['runtime-crun', 'ok', 'crun 1.8.1 at /usr/bin/crun'],
      ['runtime-runc', 'ok', 'runc 1.1.5 at /usr/sbin/runc'],
    ]);
  });

  it('that are missing cause a failure', () => {
    expect(runtimeRows([])).toEqual([
      {
        name: 'runtime',
        level: 'failure',
        detail: 'neither crun nor runc is installed',
        hint: 'Run ./setup, or install crun.',
      },
    ]);
  });

  it('that are not defaults do not replace a missing default runtime', () => {
    expect(runtimeRows([runsc]).map(({ name, level }) => [name, level])).toEqual([
      ['runtime', 'failure'],
      ['runtime-runsc', 'ok'],
    ]);
  });

  it.each([
    [{ ...crun, version: 'crun version 1.8.1\n+SYSTEMD -SECCOMP\n' }, 'has no seccomp'],
    [{ ...runc, version: 'runc version 1.1.5\n' }, 'has no seccomp'],
    [{ ...crun, version: null }, 'does not run'],
  ])('that cannot be used are reported: %j', (program, detail) => {
    expect(runtimeRows([program])[0]).toMatchObject({ level: 'failure', detail: expect.stringContaining(detail) });
  });
});

describe('conmon', () => {
  const conmon = { name: 'conmon', path: '/usr/bin/conmon', version: 'conmon version 2.1.6\n' };
  const help =
    '--exec-attach --exec-process-spec --exit-dir --full-attach --leave-stdin-open --log-size-max --no-sync-log --persist-dir';

  it('with all needed options is ok', () => {
    expect(keeperRow(conmon, help)).toMatchObject({ level: 'ok', detail: 'conmon 2.1.6 at /usr/bin/conmon' });
  });

  it.each([
    [conmon, help.replace('--full-attach', ''), 'lacks --full-attach'],
    [conmon, '', 'lacks --exec-attach, --exec'],
    [{ ...conmon, version: null }, help, 'does not run'],
  ])('that lacks an option or does not run is a failure', (program, options, detail) => {
    expect(keeperRow(program, options)).toMatchObject({ level: 'failure', detail: expect.stringContaining(detail) });
  });
});

describe('the init', () => {
  const init = { name: 'init', path: '/h/engine/bin/init', version: 'tini version 0.19.0\n' };

  it('is ok when it runs, and a failure otherwise', () => {
    expect(initRow(init)).toMatchObject({ level: 'ok', detail: 'init 0.19.0 at /h/engine/bin/init' });
    expect(initRow({ ...init, version: null }).level).toBe('failure');
  });
});

describe('the row for unshare', () => {
  const unshare = { name: 'unshare', path: '/usr/bin/unshare', version: 'unshare from util-linux 2.38.1' };

  it.each([
    [unshare, ' --map-auto  map users', true, 'ok'],
    [unshare, '', true, 'failure'],
    [unshare, '', false, 'warning'],
    [null, '', false, 'failure'],
  ])('for the program %j with the help %j, rootless %s, is %s', (program, help, rootless, level) => {
    expect(unshareRow(program, help, rootless).level).toBe(level);
  });
});

describe('the row for a tool', () => {
  it('is ok, or a warning with a hint if the tool is missing', () => {
    expect(toolRow('git', { name: 'git', path: '/usr/bin/git', version: 'git version 2.39.5' }, 'x').level).toBe('ok');
    expect(toolRow('ripgrep', null, 'searching is slow')).toEqual({
      name: 'ripgrep',
      level: 'warning',
      detail: 'not installed; searching is slow',
      hint: 'Run ./setup, or install ripgrep.',
    });
  });
});
