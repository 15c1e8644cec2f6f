/** Claims about the identity of processes inside, and what they see of others. */

import { outsideId, parseIdMap } from '../../../../lib/sys/id-map.ts';
import { agentId } from '../ids.ts';
import { broken, type Claim, heldUnless, linesOf, partsOf, sharedNamespace, someOf, unproved } from './claim.ts';
import { accountOf } from './ids.ts';

const statusScript = 'cat /proc/1/status /proc/self/status';

/** A field of /proc/PID/status, for the sandbox's first process and for an exec. */
function statusFields(output: string, field: string): string[] {
  return [...output.matchAll(new RegExp(`^${field}:\\s*(\\S+)$`, 'gm'))].map((match) => match[1]!);
}

function bothAre(output: string, field: string, wanted: (value: string) => boolean): boolean {
  const values = statusFields(output, field);
  return values.length === 2 && values.every(wanted);
}

const sets = ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'];

export const capabilities: Claim = {
  id: 'capabilities',
  script: statusScript,
  judge: (output) => {
    const filled = sets.filter((set) => !bothAre(output, set, (value) => /^0+$/.test(value)));
    return heldUnless([filled.length > 0 && `not empty: ${filled.join(' ')}`], 'all five sets are empty');
  },
};

export const noNewPrivileges: Claim = {
  id: 'no-new-privileges',
  script: statusScript,
  judge: (output) => heldUnless([!bothAre(output, 'NoNewPrivs', (value) => value === '1') && 'not set'], 'set'),
};

export const seccomp: Claim = {
  id: 'seccomp',
  script: statusScript,
  judge: (output) =>
    heldUnless(
      [!bothAre(output, 'Seccomp', (value) => value === '2') && 'no filter is in force'],
      'a filter is in force',
    ),
};

export const processes: Claim = {
  id: 'processes',
  script: `ls -d /proc/[0-9]*
echo --
tr '\\0' ' ' < /proc/1/cmdline
echo
echo --
readlink /proc/self/ns/pid`,
  judge: (output, facts) => {
    const [seen, first, namespace] = partsOf(output);
    return heldUnless(
      [
        !first?.startsWith('/opt/carrel/init ') && 'the first process is not its own init',
        sharedNamespace(namespace, facts),
      ],
      `${linesOf(seen).length} visible, the first is its init`,
    );
  },
};

export const ids: Claim = {
  id: 'ids',
  script: `id -u; id -g; id -G
echo --
cat /proc/self/uid_map
echo --
cat /proc/self/gid_map
echo --
readlink /proc/self/ns/user`,
  judge: (output, facts) => {
    const [numbers, uidMap, gidMap, namespace] = partsOf(output);
    const [uid, gid, groups] = linesOf(numbers);
    const within = outsideId(parseIdMap(uidMap ?? ''), agentId);
    const outside = within === null ? null : outsideId(parseIdMap(facts.uidMap), within);
    if (outside === null) return broken('agent has no id outside');
    const account = accountOf(facts.passwd, outside);
    return heldUnless(
      [
        (uid !== String(agentId) || gid !== String(agentId)) && `it runs as ${uid}:${gid}`,
        groups !== String(agentId) && `it is in the groups ${groups}`,
        outsideId(parseIdMap(gidMap ?? ''), agentId) !== within && 'uids and gids are mapped differently',
        account !== null && `agent is ${account} outside`,
        sharedNamespace(namespace, facts),
      ],
      `agent (${agentId}) is ${outside} outside, which has no account`,
    );
  },
};

const shellNames = ['PWD', 'OLDPWD', 'SHLVL', '_'];

export const inheritance: Claim = {
  id: 'inheritance',
  script: `tr '\\0' '\\n' < /proc/1/environ
tr '\\0' '\\n' < /proc/$$/environ
echo --
ls /proc/1/fd
ls /proc/$$/fd`,
  judge: (output, facts) => {
    const [variables, descriptors] = partsOf(output);
    const names = linesOf(variables).map((line) => line.split('=')[0]!);
    const strange = [...new Set(names)].filter(
      (name) => !facts.environment.includes(name) && !shellNames.includes(name),
    );
    const open = linesOf(descriptors).filter((fd) => Number(fd) > 2);
    return heldUnless(
      [
        (names.length === 0 || linesOf(descriptors).length < 6) && 'it cannot be determined',
        strange.length > 0 && `variables came in: ${someOf(strange)}`,
        open.length > 0 && `descriptors came in: ${someOf(open)}`,
      ],
      'three descriptors, and only the variables of the sandbox',
    );
  },
};

export const network: Claim = {
  id: 'network',
  script: `sed -n 's/^ *\\([^ :]*\\):.*/\\1/p' /proc/net/dev
echo --
sed 1d /proc/net/route
echo --
grep ' @' /proc/net/unix
echo --
ls /sys/class/net
echo --
readlink /proc/self/ns/net`,
  judge: (output, facts) => {
    const [interfaces, routes, sockets, shown, namespace] = partsOf(output);
    const others = [...linesOf(interfaces), ...linesOf(shown)].filter((name) => name !== 'lo');
    return heldUnless(
      [
        !linesOf(interfaces).includes('lo') && 'there is no loopback',
        others.length > 0 && `interfaces besides lo: ${someOf([...new Set(others)])}`,
        linesOf(routes).length > 0 && `there are ${linesOf(routes).length} routes`,
        linesOf(sockets).length > 0 && `${linesOf(sockets).length} abstract sockets are in reach`,
        sharedNamespace(namespace, facts),
      ],
      'only lo, no route, no abstract socket',
    );
  },
};

export const ipc: Claim = {
  id: 'ipc',
  script: `for kind in msg sem shm; do sed 1d /proc/sysvipc/$kind; done
echo --
ls -A /dev/shm /dev/mqueue 2>/dev/null | grep -v '^/dev/\\|^$'
echo --
readlink /proc/self/ns/ipc`,
  judge: (output, facts) => {
    const [systemV, posix, namespace] = partsOf(output);
    const seen = linesOf(systemV).length + linesOf(posix).filter((name) => !name.startsWith('.carrel-doctor')).length;
    return heldUnless(
      [seen > 0 && `${seen} objects are visible`, sharedNamespace(namespace, facts)],
      'none is visible',
    );
  },
};

export const cgroup: Claim = {
  id: 'cgroup',
  script: `cat /proc/1/cgroup
echo --
find /sys/fs/cgroup -mindepth 1 2>/dev/null | head -n 3
echo --
readlink /proc/self/ns/cgroup`,
  judge: (output, facts) => {
    const [groups, mounted, namespace] = partsOf(output);
    const paths = linesOf(groups).map((line) => line.split(':').slice(2).join(':'));
    const other = paths.filter((path) => path !== '/');
    if (paths.length === 0) return unproved('this kernel has none', 'Use a kernel built with CONFIG_CGROUPS.');
    return heldUnless(
      [
        other.length > 0 && `its own appears as ${someOf(other)}`,
        linesOf(mounted).length > 0 && `mounted: ${someOf(linesOf(mounted))}`,
        sharedNamespace(namespace, facts),
      ],
      'none is mounted; its own appears as /',
    );
  },
};
