/** Which folders of the host may be shared. */
import { accessSync, constants, existsSync, fstatSync, lstatSync, realpathSync, type Stats } from 'node:fs';
import { dirname, sep } from 'node:path';
import { Anchor } from '../../lib/file/anchor.ts';
import { isErrno, readIfThere } from '../../lib/file/file.ts';
import { isInside, realHostPath } from '../../lib/file/host-path.ts';
import { currentBootId } from '../../lib/process/process.ts';
import { Fault, isFault } from '../../model/fault.ts';
import { type FolderIdentity, isSameFolder } from '../../model/mount.ts';
import { printable } from '../../model/name.ts';
import type { Share } from './model.ts';

/** The rules that decide whether a folder may be shared. */
export interface FolderRules {
  /** The home of Carrel. */
  readonly home: string;
  /** Folders of the host that sandboxes can write. */
  readonly open: readonly string[];
  /** Sockets that give root on the host. */
  readonly sockets: readonly string[];
  /** The other shares of the installation. */
  readonly shares: readonly Pick<Share, 'name' | 'folder'>[];
  /** The account whose folders may be shared; `any`: all, null: none. */
  readonly account: number | null | 'any';
}

/** Programs, settings and devices of the machine, and files of running services. */
const systemFolders = [
  ...['/proc', '/sys', '/dev', '/run', '/etc', '/boot'],
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'],
];

/** Checks that a folder may be shared. Returns its real path and its identity. */
export function shareFolder(path: string, rules: FolderRules): { folder: string; identity: FolderIdentity } {
  if (rules.account !== 'any') refuseOthersFolder(path, rules.account);
  const folder = realHostPath(path, rules.open, refuseForeignLink(path, rules));
  if (!lstatSync(folder).isDirectory())
    throw new Fault('invalid', `${printable(path)} is not a folder`, { hint: 'Name an existing folder.' });
  refuseSystem(folder);
  refuseHome(folder, rules.home);
  refuseReplaceable(folder);
  refuseSockets(folder, rules.sockets);
  refuseNested(folder, rules.shares);
  refuseClosed(folder);
  return { folder, identity: identityOf(folder) };
}

export function identityOf(folder: string): FolderIdentity {
  const { dev, ino } = lstatSync(folder, { bigint: true });
  return { device: String(dev), inode: String(ino), bootId: currentBootId() };
}

/** Opens the folder of a share without following a link. Throws if another folder has taken its place. */
export function openFolder({ name, folder, identity }: Pick<Share, 'name' | 'folder' | 'identity'>): Anchor {
  const opened = reach(name, folder);
  const { dev, ino } = fstatSync(opened.fd, { bigint: true });
  if (isSameFolder(identity, { device: String(dev), inode: String(ino), bootId: currentBootId() })) return opened;
  opened.close();
  throw replaced(name, folder);
}

function reach(name: string, folder: string): Anchor {
  try {
    return Anchor.reach(folder);
  } catch (cause) {
    if (isErrno(cause, 'ELOOP') || isErrno(cause, 'ENOTDIR')) throw replaced(name, folder, cause);
    const message = `the folder ${printable(folder)} of the share ${name} cannot be opened: ${(cause as Error).message}`;
    throw new Fault('not_found', message, { hint: `Put it back, or: carrel share revoke ${name}`, cause });
  }
}

function replaced(name: string, folder: string, cause?: unknown): Fault {
  return new Fault('denied', `${printable(folder)} is not the folder that was shared as ${name}`, {
    hint: `Put that folder back; or share this one: carrel share revoke ${name}, then carrel share add ${name} …`,
    cause,
  });
}

/** An account that can change a link could later change which folder is shared. */
function refuseForeignLink(path: string, { account }: FolderRules): (link: string, stat: Stats) => void {
  const isTrusted = ({ uid }: Stats) => uid === 0 || uid === process.getuid!() || uid === account;
  return (link, stat) => {
    const around = lstatSync(dirname(link));
    if (isTrusted(stat) && isTrusted(around) && !isOpenToAll(around)) return;
    throw new Fault(
      'denied',
      `${printable(path)} leads through ${printable(link)}, a link that another account can change`,
      {
        hint: 'Name the real path.',
      },
    );
  };
}

/** In a sticky folder only the owner of an entry can replace it. */
function isOpenToAll({ mode }: Stats): boolean {
  return (mode & constants.S_IWOTH) !== 0 && (mode & sticky) === 0;
}
const sticky = 0o1000;

/** A user learns nothing about folders of others, not even whether they exist. */
function refuseOthersFolder(path: string, account: number | null): void {
  try {
    if (lstatSync(realHostPath(path, [])).uid === account) return;
  } catch (error) {
    if (!isFault(error)) throw error;
  }
  throw new Fault('denied', `${printable(path)} is not your folder`, {
    hint:
      account === null
        ? 'The owner of the installation can name your account: carrel user add NAME --uid UID'
        : 'Name a folder of your own.',
  });
}

function refuseSystem(folder: string): void {
  const inside = systemFolders.find((system) => isInside(folder, system));
  if (folder !== sep && inside === undefined) return;
  const what =
    inside === undefined ? 'it is the root of the filesystem' : `it is in ${inside}, which belongs to the system`;
  throw new Fault('denied', `${printable(folder)} cannot be shared: ${what}`, {
    hint: 'Make a folder for the share, such as /srv/NAME.',
  });
}

function refuseHome(folder: string, home: string): void {
  const own = realpathSync(home);
  if (!isInside(folder, own) && !isInside(own, folder)) return;
  throw new Fault('denied', `${printable(folder)} cannot be shared: it contains the home of Carrel or is inside it`, {
    hint: 'Name a folder outside of it. For storage inside of it there are volumes: carrel volume create NAME',
  });
}

/** The recorded inode prevents mounting another folder, but any account could make the share unusable. */
function refuseReplaceable(folder: string): void {
  for (let above = dirname(folder); above !== sep; above = dirname(above)) {
    if (!isOpenToAll(lstatSync(above))) continue;
    throw new Fault(
      'denied',
      `every account can replace ${printable(folder)}: ${printable(above)} is writable by all`,
      {
        hint: `Take that right away first: chmod o-w ${above}`,
      },
    );
  }
}

/** A consumer that can connect to a socket in the folder could use a service of the host. */
function refuseSockets(folder: string, sockets: readonly string[]): void {
  const known = sockets.filter((socket) => existsSync(socket)).map((socket) => realpathSync(socket));
  const held = [...known, ...boundSockets()].find((socket) => isInside(socket, folder));
  if (held === undefined) return;
  throw new Fault('denied', `${printable(folder)} cannot be shared: ${printable(held)} is a socket of a service`, {
    hint: 'Name a folder without sockets.',
  });
}

/** Sockets that processes of this machine are bound to now: the path is the eighth column. */
function boundSockets(): string[] {
  const lines = (readIfThere('/proc/net/unix') ?? '').split('\n');
  return lines.flatMap((line) => /^(?:\S+\s+){7}(\/.*)$/.exec(line)?.[1] ?? []);
}

function refuseNested(folder: string, shares: readonly Pick<Share, 'name' | 'folder'>[]): void {
  const other = shares.find((one) => isInside(folder, one.folder) || isInside(one.folder, folder));
  if (other === undefined) return;
  const how = other.folder === folder ? 'is' : isInside(folder, other.folder) ? 'is inside' : 'contains';
  throw new Fault('conflict', `${printable(folder)} ${how} the folder of the share ${other.name}`, {
    hint: `Add consumers to that share, or choose a folder apart from ${other.folder}.`,
  });
}

function refuseClosed(folder: string): void {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new Fault('denied', `${printable(folder)} cannot be shared: the daemon may not read and write it`, {
      hint: 'Name a folder of your own.',
      cause,
    });
  }
}
