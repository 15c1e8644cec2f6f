/** Connections to a daemon, and the errors if none can be made. */
import { closeSync, constants, openSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { basename, dirname } from 'node:path';
import { O_PATH } from '../lib/file/anchor.ts';
import { Fault } from '../model/fault.ts';

/** A home, or the socket of a daemon that another user runs. */
export type DaemonAddress = string | { readonly socket: string };

/** The socket of the daemon of a home. */
export function socketOf(home: string): string {
  return `${home}/carrel.sock`;
}

/**
 * The path of a socket is limited to 107 bytes and its folder may be deeper, so it is named through an
 * open descriptor of the folder.
 */
export function dial(address: DaemonAddress): Promise<Socket> {
  const path = typeof address === 'string' ? socketOf(address) : address.socket;
  return new Promise((resolve, reject) => {
    const folder = openFolder(dirname(path), address);
    const socket = connect(`/proc/self/fd/${folder}/${basename(path)}`);
    const fail = (error: Error) => {
      closeSync(folder);
      reject(unreachable(error, address));
    };
    socket.once('error', fail);
    socket.once('connect', () => {
      closeSync(folder);
      socket.off('error', fail);
      resolve(socket);
    });
  });
}

/** Opens with O_PATH, because the folder of a shared socket may not be readable. */
function openFolder(folder: string, address: DaemonAddress): number {
  try {
    return openSync(folder, O_PATH | constants.O_DIRECTORY);
  } catch (error) {
    throw unreachable(error, address);
  }
}

function unreachable(error: unknown, address: DaemonAddress): Fault {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ECONNREFUSED') return absent(error, address);
  if (code === 'EACCES' || code === 'EPERM') return closed(error, address);
  if (code !== 'ENOTDIR') return broken(error);
  if (typeof address !== 'string') return absent(error, address);
  return new Fault('invalid', `${address} is not a folder`, { cause: error, hint: 'Give --home a folder.' });
}

function absent(error: unknown, address: DaemonAddress): Fault {
  if (typeof address === 'string')
    return new Fault('unavailable', 'the daemon is not running', { cause: error, hint: 'carrel up -d' });
  return new Fault('unavailable', `no daemon listens at ${address.socket}`, {
    cause: error,
    hint: 'The user who shares it starts it; for a daemon of your own, unset CARREL_SOCKET.',
  });
}

function closed(error: unknown, address: DaemonAddress): Fault {
  if (typeof address === 'string')
    return new Fault('denied', `${address} belongs to another account`, {
      cause: error,
      hint: 'Use a home of your own: --home DIR or CARREL_HOME.',
    });
  return new Fault('denied', `${address.socket} is not open to you`, {
    cause: error,
    hint: 'The user who shares it decides who may connect; for a daemon of your own, unset CARREL_SOCKET.',
  });
}

/** A connection that broke, or that the caller aborted. */
export function broken(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const name = (error as Error).name;
  if (name === 'AbortError' || name === 'TimeoutError') return abandoned(error as Error);
  return new Fault('unavailable', `the connection to the daemon broke: ${(error as Error).message}`, {
    cause: error,
    hint: 'Try again; daemon.log in the home says what happened.',
  });
}

function abandoned(error: Error): Fault {
  const late = error.name === 'TimeoutError' || (error.cause as Error | undefined)?.name === 'TimeoutError';
  return late
    ? new Fault('timeout', 'the daemon did not answer in time', {
        cause: error,
        hint: 'Try again; daemon.log in the home says what happened.',
      })
    : new Fault('cancelled', 'interrupted', { cause: error });
}
