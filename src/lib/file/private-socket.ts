/** A server at a unix socket that only this account can open. */
import { chmodSync, closeSync, constants, openSync, rmSync } from 'node:fs';
import type { Server } from 'node:net';
import { basename, dirname } from 'node:path';

/**
 * Replaces an earlier socket. The server binds through the open folder, because the path of a socket may have at most
 * 107 bytes.
 */
export async function listenPrivately(server: Server, path: string): Promise<void> {
  const folder = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    rmSync(path, { force: true });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ path: `/proc/self/fd/${folder}/${basename(path)}` }, resolve);
    });
    chmodSync(path, 0o600);
  } finally {
    closeSync(folder);
  }
}
