/** The folder of one installation, and the lock that makes its daemon the only one. */
import { createHash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  ftruncateSync,
  mkdirSync,
  openSync,
  realpathSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Places } from '../launch/launch.ts';
import { isErrno } from '../lib/file.ts';
import { tryLock } from '../lib/sys.ts';
import { Fault } from '../model/fault.ts';

export interface Home extends Places {
  readonly database: string;
  readonly config: string;
  readonly engine: string;
  /** Short and stable: tells this installation's traces on the machine from others'. */
  readonly installation: string;
}

export function openHome(folder: string): Home {
  makePrivate(folder);
  const home = realpathSync(folder);
  const sandboxes = join(home, 'sandboxes');
  mkdirSync(sandboxes, { recursive: true, mode: 0o711 });
  return {
    home,
    database: join(home, 'carrel.db'),
    config: join(home, 'config.yaml'),
    engine: join(home, 'engine'),
    images: join(home, 'images'),
    installation: createHash('sha256').update(home).digest('hex').slice(0, 12),
    sandbox: (id) => join(sandboxes, id),
  };
}

function makePrivate(home: string): void {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    const stat = statSync(home);
    if (!stat.isDirectory())
      throw new Fault('invalid', `${home} is not a folder`, { hint: 'Set CARREL_HOME to a folder.' });
    if (stat.uid !== process.getuid?.()) {
      throw new Fault('denied', `${home} belongs to somebody else`, {
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
    return new Fault('exhausted', `no space left for ${home}`, { hint: 'Free some disk space.', cause: error });
  return error;
}

/** Held until this process ends, however it ends. */
export function lockHome(home: string): void {
  const fd = openSync(join(home, 'daemon.lock'), constants.O_RDWR | constants.O_CREAT, 0o600);
  if (!tryLock(fd))
    throw new Fault('conflict', `a daemon is running for ${home} already`, {
      hint: 'Use it, or end it with: carrel down',
    });
  ftruncateSync(fd);
  writeSync(fd, `${process.pid}\n`);
}
