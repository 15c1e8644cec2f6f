/** The folder of one installation, and the lock that makes its daemon the only one. */
import { createHash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../../lib/file/file.ts';
import { overlayRefusal } from '../../lib/sys/overlay-trial.ts';
import { tryLock } from '../../lib/sys/sys.ts';
import { Fault, spaceHint } from '../../model/fault.ts';
import type { Places } from './places.ts';

/** The socket of the owner, in the home. */
export const socketName = 'carrel.sock';

export interface Home extends Places {
  readonly database: string;
  readonly config: string;
  readonly engine: string;
  /** Applies to projects, one folder each. */
  readonly applies: string;
  readonly volumes: string;
  readonly backups: string;
  readonly audit: string;
  readonly rooms: string;
  /** Emptied whenever a daemon starts. */
  readonly scratch: string;
}

/**
 * Tests once, at the first use, whether overlays can be mounted; the process then has a mount namespace of its own. A
 * full disk proves nothing: no sandbox can start then, and the next call tests again.
 */
function overlayTrial(home: string, rootless: boolean): () => boolean {
  let found: boolean | undefined;
  return () => {
    if (found !== undefined) return found;
    try {
      mkdirSync(join(home, 'volumes'), { recursive: true, mode: 0o700 });
      found = overlayRefusal(join(home, 'volumes'), home, rootless ? 'user' : 'trusted') === null;
      return found;
    } catch (error) {
      if (isErrno(error, 'ENOSPC') || isErrno(error, 'EDQUOT')) return true;
      throw error;
    }
  };
}

/** Makes a folder that is removed at the latest when the next daemon starts. */
export function makeScratch({ scratch }: Pick<Home, 'scratch'>): string {
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  return mkdtempSync(join(scratch, 'work-'));
}

/** `homeVolume`: the name of the volume with the home of a user, which settings may change. */
export function openHome(folder: string, rootless: boolean, homeVolume: (user: string) => string): Home {
  makePrivate(folder);
  const home = realpathSync(folder);
  const sandboxes = join(home, 'sandboxes');
  mkdirSync(sandboxes, { recursive: true, mode: 0o711 });
  const canOverlay = overlayTrial(home, rootless);
  return {
    home,
    database: join(home, 'carrel.db'),
    config: join(home, 'config.yaml'),
    engine: join(home, 'engine'),
    images: join(home, 'images'),
    tools: join(home, 'tools'),
    installation: installationOf(home),
    sandbox: (id) => join(sandboxes, id),
    state: (id) => join(sandboxes, id, 'state'),
    userHome: (user) => join(home, 'volumes', homeVolume(user)),
    volume: (name) => join(home, 'volumes', name),
    volumes: join(home, 'volumes'),
    backups: join(home, 'backups'),
    audit: join(home, 'audit'),
    rooms: join(home, 'rooms'),
    base: (id) => join(home, 'bases', id),
    applies: join(home, 'applies'),
    scratch: join(home, 'scratch'),
    get overlays() {
      return canOverlay();
    },
    rootless,
  };
}

/** Names what an installation has outside of its home: control groups, containers, secrets in memory. */
export function installationOf(home: string): string {
  return createHash('sha256').update(home).digest('hex').slice(0, 12);
}

function makePrivate(home: string): void {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    const stat = statSync(home);
    if (!stat.isDirectory())
      throw new Fault('invalid', `${home} is not a folder`, { hint: 'Set CARREL_HOME to a folder.' });
    if (stat.uid !== process.getuid?.()) {
      throw new Fault('denied', `${home} belongs to another account`, {
        hint: 'Set CARREL_HOME to a folder of your own.',
      });
    }
    if ((stat.mode & 0o077) !== 0) chmodSync(home, 0o700);
    accessSync(home, constants.W_OK);
  } catch (error) {
    throw homeFault(home, error);
  }
}

function homeFault(home: string, error: unknown): unknown {
  const hint = 'Set CARREL_HOME to a folder that you can write.';
  if (isErrno(error, 'EROFS') || isErrno(error, 'EACCES') || isErrno(error, 'EPERM')) {
    return new Fault('denied', `cannot write ${home}`, { hint, cause: error });
  }
  if (isErrno(error, 'EEXIST') || isErrno(error, 'ENOTDIR'))
    return new Fault('invalid', `${home} is not a folder`, { hint, cause: error });
  if (isErrno(error, 'ENOSPC'))
    return new Fault('exhausted', `no space left for ${home}`, { hint: spaceHint, cause: error });
  return error;
}

/**
 * Takes the lock, which is held until this process ends, however it ends. The returned function says whether the lock
 * still counts: in a home that was removed or moved away, it keeps no other daemon out.
 */
export function lockHome(home: string): () => boolean {
  const path = join(home, 'daemon.lock');
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  if (!tryLock(fd))
    throw new Fault('conflict', `a daemon is running for ${home} already`, {
      hint: 'Use it, or end it with: carrel down',
    });
  // The old content is overwritten before it is cut: on a full disk, space that is given back may not be available
  // again.
  const note = `${process.pid}\n`;
  writeSync(fd, note, 0);
  ftruncateSync(fd, note.length);
  return () => isAt(path, fd);
}

/** If the check fails, the lock counts. */
function isAt(path: string, fd: number): boolean {
  try {
    const [held, found] = [fstatSync(fd), statSync(path, { throwIfNoEntry: false })];
    return found?.ino === held.ino && found.dev === held.dev;
  } catch {
    return true;
  }
}
