/** The unix sockets of a daemon: one in its home for the owner alone, and one that it may share with other users. */
import { chmodSync, constants, lstatSync, openSync, rmSync, statSync } from 'node:fs';
import http from 'node:http';
import type { Socket } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { isErrno } from '../../lib/file/file.ts';
import { Connections, limitsFor } from '../../lib/wire/connections.ts';
import { Fault, spaceHint } from '../../model/fault.ts';
import { socketName } from '../home/home.ts';
import { peerOfSocket } from './peer.ts';
import { createApp, type Serving } from './server.ts';
import { serveUpgrades } from './upgrades.ts';

export interface Listening extends Serving {
  readonly home: string;
  /** Frees some reserved space on a full disk; false when there is no more. */
  readonly giveUpSpace: () => boolean;
}

/** The path of a socket may have at most 107 bytes, so the socket is bound through the descriptor of its folder. */
const maxNameBytes = 107 - '/proc/self/fd/9999/'.length;

/** Checks the place of a socket. An existing socket is left from an earlier daemon and may be replaced. */
function checkSocket(path: string): void {
  const refused = (why: string) => new Fault('invalid', why, { hint: 'share.socket in config.yaml says where it is.' });
  if (Buffer.byteLength(basename(path)) > maxNameBytes)
    throw refused(`the name of the socket ${path} is longer than ${maxNameBytes} bytes`);
  if (!statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory())
    throw refused(`there is no folder ${dirname(path)} to make a socket in`);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found && !found.isSocket())
    throw refused(`${path} is not a socket, and the shared socket is to be created there`);
}

/** Binds in the same tick in which space was freed. False: the disk has no room for a socket. */
function bound(server: http.Server, path: string): Promise<boolean> {
  return new Promise<boolean>((resolve, reject) => {
    const failed = (error: Error) => (isErrno(error, 'ENOSPC') ? resolve(false) : reject(error));
    server.once('error', failed);
    server.listen({ path }, () => {
      server.off('error', failed);
      resolve(true);
    });
  });
}

function noRoom(path: string): Fault {
  return new Fault('exhausted', `the disk has no room for the socket ${path}`, { hint: spaceHint });
}

/** Listens at `shared`; without it, at the owner's socket, which no other account can open. */
export async function listen(serving: Listening, shared?: string, limits = limitsFor()): Promise<http.Server> {
  const own = join(serving.home, socketName);
  if (shared === own) throw new Fault('invalid', `share.socket: ${own} is the owner's alone`);
  const [path, isOwners] = [shared ?? own, shared === undefined];
  checkSocket(path);
  const connections = isOwners ? null : new Connections(limits, (socket) => peerOfSocket(socket)?.uid ?? null);
  const policy = { isOwners, authenticated: (socket: Socket) => connections?.authenticated(socket) };
  const app = createApp(serving, policy);
  const server = http.createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
  server.requestTimeout = 0;
  server.timeout = 0;
  serveUpgrades(server, serving, policy);
  connections?.guard(server);
  const folder = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
  const bind = () => {
    rmSync(path, { force: true });
    return bound(server, `/proc/self/fd/${folder}/${basename(path)}`);
  };
  while (!(await bind())) if (!serving.giveUpSpace()) throw noRoom(path);
  // Clients of the shared socket authenticate by a token.
  chmodSync(path, isOwners ? 0o600 : 0o666);
  return server;
}
