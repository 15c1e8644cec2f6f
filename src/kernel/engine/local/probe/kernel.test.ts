import { describe, expect, it } from 'vitest';
import { inotifyRow, kernelRow, seccompRow, userNamespaceRow } from './kernel.ts';
import { isBelow, versionIn } from './version.ts';

describe('a version', () => {
  it.each([
    ['crun version 1.8.1', '1.8.1'],
    ['unshare from util-linux 2.38.1', '2.38.1'],
    ['6.18.44-fc-v490', '6.18.44'],
    ['nothing here', null],
  ])('in %j is %j', (text, version) => {
    expect(versionIn(text)).toBe(version);
  });

  it.each([
    ['4.9', '4.18', true],
    ['4.18', '4.18', false],
    ['4.18.1', '4.18', false],
    ['5', '4.18', false],
    ['2.4.9', '2.5', true],
  ])('%s is below %s: %s', (version, wanted, below) => {
    expect(isBelow(version, wanted)).toBe(below);
  });
});

describe('the kernel', () => {
  it.each([
    ['6.1.0-13-amd64', 'ok'],
    ['5.4.0-150-generic', 'warning'],
    ['3.10.0-1160.el7', 'failure'],
    ['', 'failure'],
  ])('%j is %s', (release, level) => {
    expect(kernelRow(release)).toMatchObject({ name: 'kernel', level });
  });
});

describe('user namespaces', () => {
  const healthy = { rootless: true, max: '96349\n', unprivileged: null, apparmor: null };

  it('can be made', () => {
    expect(userNamespaceRow(healthy)).toEqual({
      name: 'user-namespaces',
      level: 'ok',
      detail: 'up to 96349',
      hint: null,
    });
  });

  it.each([
    [{ max: null }, 'failure', 'CONFIG_USER_NS'],
    [{ max: '0\n' }, 'failure', 'user.max_user_namespaces='],
    [{ unprivileged: '0\n' }, 'failure', 'kernel.unprivileged_userns_clone=1'],
    [{ apparmor: '1\n' }, 'warning', 'kernel.apparmor_restrict_unprivileged_userns=0'],
  ])('cannot be made with %j', (change, level, hint) => {
    const row = userNamespaceRow({ ...healthy, ...change });
    expect(row.level).toBe(level);
    expect(row.hint).toContain(hint);
  });

  it('of root are not restricted like those of ordinary users', () => {
    const row = userNamespaceRow({ ...healthy, rootless: false, unprivileged: '0', apparmor: '1' });
    expect(row.level).toBe('ok');
  });
});

describe('seccomp', () => {
  it.each([
    ['kill_process kill_thread trap errno user_notif trace log allow\n', 'ok'],
    ['kill_thread trap errno allow\n', 'failure'],
    ['', 'failure'],
    [null, 'failure'],
  ])('with %j is %s', (actions, level) => {
    expect(seccompRow(actions).level).toBe(level);
  });
});

describe('inotify', () => {
  it.each([
    ['128\n', '65536\n', 'ok'],
    ['16\n', '65536\n', 'warning'],
    ['128\n', '1024\n', 'warning'],
    [null, null, 'failure'],
  ])('with %j instances and %j watches is %s', (instances, watches, level) => {
    expect(inotifyRow(instances, watches).level).toBe(level);
  });
});
