/** Rows about control groups. */
import type { Limits } from '../../../../model/limits.ts';
import type { ProbeRow } from '../../engine.ts';
import { failure, limitWords, ok, warning } from '../../probe-row.ts';

export interface CgroupFacts {
  readonly rootless: boolean;
  readonly version: 1 | 2;
  /** Version 1 with the unified hierarchy mounted as well. */
  readonly hybrid: boolean;
  readonly parent: string | null;
  readonly enforced: readonly (keyof Limits)[];
  /** `cgroup.controllers`, or the names of the hierarchies. */
  readonly controllers: readonly string[];
  /** The account that runs the daemon. */
  readonly account: string;
}

const name = 'cgroups';
const needed = ['cpu', 'memory', 'pids'];

export function cgroupRow(facts: CgroupFacts): ProbeRow {
  const kind = facts.version === 2 ? 'v2' : facts.hybrid ? 'hybrid' : 'v1';
  const enforced = facts.enforced.map((key) => limitWords[key]).join(', ');
  if (facts.parent === null) {
    return warning(name, `${kind}, none is delegated to Carrel: enforced is ${enforced} only`, delegationHint(facts));
  }
  const missing = needed.filter((controller) => !facts.controllers.includes(controller));
  if (missing.length > 0) {
    const options = missing.map((controller) => `cgroup_enable=${controller}`).join(' ');
    const hint = facts.rootless ? lendingHint : `Boot with the kernel option ${options}.`;
    return failure(name, `${kind} without ${missing.join(', ')}`, hint);
  }
  if (!facts.enforced.includes('swapBytes')) {
    return warning(
      name,
      `${kind}, enforced: ${enforced}; swap is not counted`,
      'Boot with the kernel option swapaccount=1.',
    );
  }
  return ok(name, `${kind}, enforced: ${enforced}`);
}

/** Systemd before version 252 does not delegate the cpu controller to users. */
const lendingHint =
  "as root: mkdir -p /etc/systemd/system/user@.service.d && printf '[Service]\\nDelegate=cpu memory pids\\n' > " +
  '/etc/systemd/system/user@.service.d/carrel.conf, then reboot';

/** Version 1 cannot be delegated to an ordinary user. */
function delegationHint({ version, account }: CgroupFacts): string {
  const steps = [
    `keep your systemd running after you log out, so that sandboxes keep running too: loginctl enable-linger ${account}`,
    'stop all sandboxes and restart the daemon: carrel down --all; carrel up -d',
  ];
  const unified = 'boot with the kernel option systemd.unified_cgroup_hierarchy=1';
  return (version === 2 ? steps : [unified, ...steps]).map((step, index) => `(${index + 1}) ${step}`).join('; ');
}

/** Groups that other installations made. They are only reported, as their installations remove them. */
export function otherGroupsRow(groups: readonly { readonly name: string; readonly busy: boolean }[]): ProbeRow {
  const idle = groups.filter(({ busy }) => !busy).map((group) => group.name);
  const living = groups.length - idle.length;
  const others = living === 0 ? 'none' : `${living} with sandboxes`;
  return ok('other-installations', idle.length === 0 ? others : `${others}; nothing runs in ${idle.join(', ')}`);
}

/** The path of a process in the hierarchy of a controller, from its /proc/PID/cgroup. */
export function groupPath(text: string, controller: string): string | null {
  const lines = text.split('\n').map((line) => line.split(':'));
  const own = lines.find(([, controllers]) => controllers?.split(',').includes(controller));
  const found = own ?? lines.find(([id, controllers]) => id === '0' && controllers === '');
  return found?.slice(2).join(':') ?? null;
}

/** Processors a group may use, from `cpu.max` or from the two files of version 1; null: there is no limit. */
export function quotaIn(text: string): number | null {
  const [quota, period] = text.trim().split(/\s+/).map(Number);
  return quota !== undefined && period !== undefined && quota > 0 && period > 0 ? quota / period : null;
}
