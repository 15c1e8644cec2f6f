/** Rows about the kernel, from the texts of its files. Null: the file does not exist. */
import type { ProbeRow } from '../../engine.ts';
import { failure, ok, warning } from '../../probe-row.ts';
import { isBelow, versionIn } from './version.ts';

/**
 * Carrel is not tested with kernels below the first version. Below the second, the owner of a bound project cannot be
 * mapped.
 */
const oldestKernel = '4.18';
const idmappedKernel = '5.12';

export function kernelRow(release: string): ProbeRow {
  const version = versionIn(release);
  const detail = `Linux ${release.trim()}`;
  const hint = `Update the kernel to ${idmappedKernel} or newer.`;
  if (version === null || isBelow(version, oldestKernel)) return failure('kernel', `${detail} is too old`, hint);
  if (isBelow(version, idmappedKernel)) return warning('kernel', `${detail} cannot bind a project for root`, hint);
  return ok('kernel', detail);
}

export interface UserNamespaceTexts {
  readonly rootless: boolean;
  /** user.max_user_namespaces */
  readonly max: string | null;
  /** kernel.unprivileged_userns_clone, of Debian's older kernels. */
  readonly unprivileged: string | null;
  /** kernel.apparmor_restrict_unprivileged_userns, of Ubuntu. */
  readonly apparmor: string | null;
}

export function userNamespaceRow({ rootless, max, unprivileged, apparmor }: UserNamespaceTexts): ProbeRow {
  const name = 'user-namespaces';
  if (max === null) {
    return failure(name, 'this kernel has none', 'Use a kernel built with CONFIG_USER_NS.');
  }
  if (Number(max) === 0) {
    return failure(name, 'switched off', 'As root: sysctl -w user.max_user_namespaces=63000');
  }
  if (rootless && unprivileged?.trim() === '0') {
    return failure(name, 'root only', 'As root: sysctl -w kernel.unprivileged_userns_clone=1');
  }
  if (rootless && apparmor?.trim() === '1') {
    return warning(
      name,
      'AppArmor restricts those of ordinary users',
      'As root: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or run the daemon as root.',
    );
  }
  return ok(name, `up to ${max.trim()}`);
}

/**
 * The filter answers a refused call with an error number, and kills a process that makes a call of another
 * architecture.
 */
const neededActions = ['errno', 'kill_process'];

export function seccompRow(actions: string | null): ProbeRow {
  const name = 'seccomp-kernel';
  const hint = 'Use a kernel built with CONFIG_SECCOMP_FILTER, 4.14 or newer.';
  if (actions === null) return failure(name, 'this kernel has no system call filters', hint);
  const missing = neededActions.filter((action) => !actions.split(/\s+/).includes(action));
  if (missing.length > 0) return failure(name, `filters lack ${missing.join(' and ')}`, hint);
  return ok(name, 'system call filters are supported');
}

const fewInstances = 64;
const fewWatches = 8192;

export function inotifyRow(instances: string | null, watches: string | null): ProbeRow {
  const name = 'inotify';
  if (instances === null || watches === null) {
    return failure(name, 'this kernel has none', 'Use a kernel built with CONFIG_INOTIFY_USER.');
  }
  const detail = `${instances.trim()} instances, ${watches.trim()} watches`;
  if (Number(instances) >= fewInstances && Number(watches) >= fewWatches) return ok(name, detail);
  return warning(
    name,
    `${detail} are few`,
    'As root: sysctl -w fs.inotify.max_user_instances=512 fs.inotify.max_user_watches=524288',
  );
}
