/** Claims about files that exist inside, and about files that can be changed. */
import { broken, type Claim, type ClaimFacts, heldUnless, linesOf, partsOf, sharedNamespace, someOf } from './claim.ts';

const topFolders = words('bin sbin lib lib32 lib64 libx32 usr etc dev proc sys tmp opt home run var');
const givenFolders = words('.data .workspace workspace data rooms');
/** The only paths in folders whose counterparts on the host are private. */
const onlyThings = new Set(words('/home/agent /run/carrel /run/secrets /run/lock /var/tmp /opt/carrel'));
const privateFolder = /^\/(home|run|var|opt)\/[^/]+$/;
const privateEtc = words('shadow gshadow sudoers sudoers.d ssh fstab subuid subgid machine-id cron.d systemd');

export const files: Claim = {
  id: 'files',
  script: `find / -xdev -mindepth 1 -maxdepth 2 2>/dev/null
echo --
[ -e "$1" ] && echo "$1"
echo --
readlink /proc/self/ns/mnt`,
  args: ({ home }) => [home],
  judge: (output, facts) => {
    const [tree, home, namespace] = partsOf(output);
    const there = linesOf(tree);
    const strange = there.filter(isStrange);
    return heldUnless(
      [
        there.length === 0 && 'nothing could be listed',
        strange.length > 0 && `of the host: ${someOf(strange)}`,
        linesOf(home).length > 0 && `${facts.home} exists inside`,
        sharedNamespace(namespace, facts),
      ],
      `no /root, /home, /run, /var of the host; ${facts.home} is absent`,
    );
  },
};

function isStrange(path: string): boolean {
  const [, top = '', name] = path.split('/');
  if (![...topFolders, ...givenFolders].includes(top)) return true;
  if (privateFolder.test(path)) return !onlyThings.has(path);
  return top === 'etc' && name !== undefined && privateEtc.includes(name);
}

const programs = words('/ /usr /bin /sbin /lib /etc /opt/carrel/bin /run/carrel/metadata');

export const usrReadonly: Claim = {
  id: 'usr-readonly',
  script: `for folder in "$@" /etc/* /lib*; do
  [ -d "$folder" ] || continue
  (: > "$folder/.carrel-doctor") 2>/dev/null && rm "$folder/.carrel-doctor" && echo "written $folder"
  echo "path $(readlink -f "$folder")"
done
echo --
cat /proc/self/mountinfo`,
  args: () => programs,
  judge: (output) => {
    const [tried, mounts] = partsOf(output);
    const table = parseMountInfo(mounts ?? '');
    const folders = withWord(tried, 'path');
    const written = withWord(tried, 'written');
    const writable = folders.filter((folder) => !isReadOnly(table, folder));
    return heldUnless(
      [
        folders.length === 0 && 'nothing could be tried',
        written.length > 0 && `written: ${someOf(written)}`,
        writable.length > 0 && `not mounted read-only: ${someOf(writable)}`,
      ],
      `${folders.length} folders refuse a new file`,
    );
  },
};

const kernelFiles = words('/proc/sys /proc/sysrq-trigger /proc/irq /proc/bus /proc/fs /sys');

export const procReadonly: Claim = {
  id: 'proc-readonly',
  script: `for path in "$@"; do [ -e "$path" ] && echo "$path"; done
echo --
find /proc/sys -type f -writable 2>/dev/null
echo --
cat /proc/self/mountinfo`,
  args: () => kernelFiles,
  judge: (output) => {
    const [there, writable, mounts] = partsOf(output);
    const table = parseMountInfo(mounts ?? '');
    const open = linesOf(there).filter((path) => !isReadOnly(table, path));
    const files = linesOf(writable);
    return heldUnless(
      [
        linesOf(there).length === 0 && 'nothing could be tried',
        open.length > 0 && `not mounted read-only: ${someOf(open)}`,
        files.length > 0 && `can be written: ${someOf(files)}`,
      ],
      `${someOf(linesOf(there))} are read-only`,
    );
  },
};

const secrets = words(`
  /proc/kcore /proc/keys /proc/key-users /proc/kallsyms /proc/kmsg /proc/timer_list /proc/interrupts /proc/modules
  /proc/sched_debug /proc/acpi /proc/scsi /sys/firmware /sys/kernel /sys/dev/block
`);

export const procMasked: Claim = {
  id: 'proc-masked',
  script: `for path in "$@"; do
  if [ -d "$path" ]; then [ -n "$(ls -A "$path" 2>/dev/null)" ] && echo "$path"
  elif [ -e "$path" ]; then [ -n "$(head -c 16 "$path" 2>/dev/null | od -An -tx1)" ] && echo "$path"
  fi
done
echo --`,
  args: () => secrets,
  judge: (output) => {
    if (!output.includes('--')) return broken('nothing could be tried');
    const shown = linesOf(partsOf(output)[0]);
    return heldUnless([shown.length > 0 && `shown: ${someOf(shown)}`], `${secrets.length} places show nothing`);
  },
};

const harmless = new Set(
  words('/dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /dev/ptmx /dev/console'),
);

/**
 * The script does not use `find -type`, which trusts the type in a folder's entry and so misses a mount at that entry.
 */
export const devices: Claim = {
  id: 'devices',
  script: `for path in $(find /dev); do
  [ -h "$path" ] && continue
  if [ -b "$path" ] || [ -c "$path" ]; then echo "$path"; fi
done
echo --
for kind in 'c 1 1' 'b 8 0'; do mknod /tmp/.carrel-doctor-device $kind 2>/dev/null && echo "$kind"; done
echo --`,
  judge: (output) => {
    const [there, made] = partsOf(output);
    const known = linesOf(there);
    const strange = known.filter((path) => !harmless.has(path) && !path.startsWith('/dev/pts/'));
    return heldUnless(
      [
        !known.includes('/dev/null') && 'there is no /dev/null',
        strange.length > 0 && `there are ${someOf(strange)}`,
        linesOf(made).length > 0 && `a device could be made: ${linesOf(made).join(', ')}`,
      ],
      `${known.length}, all harmless; mknod is refused`,
    );
  },
};

const temporary = ['/tmp', '/dev/shm'] as const;

/** The kernel refuses at once to reserve more than a tmpfs may hold. */
export const tmp: Claim = {
  id: 'tmp',
  script: `for folder in "$@"; do
  set -- $(stat -f -c '%T %b %S' "$folder")
  bytes=$(($2 * $3))
  if fallocate -l $((bytes + 4096)) "$folder/.carrel-doctor" 2>/dev/null; then filled=filled; else filled=bounded; fi
  rm -f "$folder/.carrel-doctor"
  echo "$folder $(stat -c %d "$folder") $1 $bytes $filled"
done`,
  args: () => temporary,
  judge: (output, facts) => {
    const rows = linesOf(output).map((line) => line.split(' '));
    const objections = temporary.map((folder) =>
      tmpObjection(
        folder,
        rows.find(([name]) => name === folder),
        facts,
      ),
    );
    const sizes = rows.map(([folder, , , bytes]) => `${folder} ${Math.round(Number(bytes) / 2 ** 20)} MiB`);
    return heldUnless(objections, `${sizes.join(', ')}, in memory, not the host's`);
  },
};

function tmpObjection(folder: '/tmp' | '/dev/shm', row: string[] | undefined, facts: ClaimFacts): string | null {
  const [, device, type, bytes, filled] = row ?? [];
  if (type !== 'tmpfs') return `${folder} is not in memory`;
  if (Number(device) === facts.devices[folder]) return `${folder} is the host's`;
  return Number(bytes) > 0 && filled === 'bounded' ? null : `${folder} has no bound`;
}

function withWord(text: string | undefined, word: string): string[] {
  return linesOf(text).flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []));
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

/** A mount of a sandbox, from its /proc/self/mountinfo. */
interface MountLine {
  readonly point: string;
  readonly options: readonly string[];
}

function parseMountInfo(text: string): MountLine[] {
  return text.split('\n').flatMap((line) => {
    const fields = line.split(' - ')[0]!.split(' ');
    if (fields.length < 6) return [];
    return [{ point: fields[4]!, options: fields[5]!.split(',') }];
  });
}

/** The mount that contains a path: the deepest one, and of several at one mount point the last. */
function mountOf(mounts: readonly MountLine[], path: string): MountLine | null {
  const covers = ({ point }: MountLine) => point === '/' || path === point || path.startsWith(`${point}/`);
  return mounts.filter(covers).reduce<MountLine | null>((best, one) => deeper(best, one), null);
}

function deeper(best: MountLine | null, one: MountLine): MountLine {
  return best === null || one.point.length >= best.point.length ? one : best;
}

function isReadOnly(mounts: readonly MountLine[], path: string): boolean {
  return mountOf(mounts, path)?.options.includes('ro') ?? false;
}
