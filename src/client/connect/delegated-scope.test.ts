import { describe, expect, it } from 'vitest';
import { isScopeRefused, type SessionFacts, scopeArgs, scopeEnv } from './delegated-scope.ts';

const paths = [
  '/sys/fs/cgroup/cgroup.controllers',
  '/var/lib/systemd/linger/ada',
  '/run/user/1000/systemd/private',
  '/usr/bin/systemd-run',
];
const facts = (missing?: string): SessionFacts => ({
  uid: 1000,
  account: 'ada',
  path: '/usr/local/bin:/usr/bin',
  exists: (path) => path !== missing && paths.includes(path),
});

describe('a delegated control group for the daemon of an ordinary user', () => {
  it('is requested if the systemd manager of the user outlives the sessions', () => {
    expect(scopeArgs(facts()).slice(0, 3)).toEqual(['systemd-run', '--user', '--scope']);
  });

  it.each(paths)('is not requested without %s', (missing) => {
    expect(scopeArgs(facts(missing))).toEqual([]);
  });

  it('is not requested for root, who does not need it', () => {
    expect(scopeArgs({ ...facts(), uid: 0, exists: () => true })).toEqual([]);
  });

  it('is requested at the socket of the manager, also without XDG_RUNTIME_DIR', () => {
    expect(scopeEnv({ uid: 1000, exists: (path) => path === '/run/user/1000' })).toEqual({
      XDG_RUNTIME_DIR: '/run/user/1000',
    });
    expect(scopeEnv({ uid: 1000, exists: () => false })).toEqual({});
  });

  it('counts as refused for errors of systemd-run, not for errors of a daemon', () => {
    expect(isScopeRefused('Failed to connect to bus: Connection refused\n')).toBe(true);
    expect(isScopeRefused('carrel-fault: {"code":"internal","message":"Failed to open"}\n')).toBe(false);
  });
});
