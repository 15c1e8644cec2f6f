/** The protocol of daemon and proxy: one JSON object per line over a unix socket in the home, each answered in turn. */
import { closeSync, constants, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import { ownBuild } from '../../lib/file/package.ts';
import { Lines } from '../../lib/wire/lines.ts';
import type { FaultBody } from '../../model/fault.ts';
import type { Attachment } from './network.ts';

/** A starting daemon replaces a proxy of another build, so that fixes take effect. */
export const controlVersion = ownBuild()?.build ?? 'sources';

export type ProxyOrder =
  | { readonly verb: 'hello'; readonly version: string }
  | { readonly verb: 'attach'; readonly attachment: Attachment }
  | { readonly verb: 'detach'; readonly id: string }
  | { readonly verb: 'keepOnly'; readonly ids: readonly string[] };

export type SentOrder = ProxyOrder & { readonly serial: number };
export type ProxyAnswer = { readonly serial: number; readonly fault?: FaultBody };

export const proxyFiles = { socket: 'control.sock', lock: 'proxy.lock', log: 'proxy.log' } as const;

/**
 * The path of the socket through its open folder, because a socket's path has at most 107 bytes. The caller closes the
 * folder afterwards.
 */
export function socketIn(folder: string): { readonly path: string; close(): void } {
  const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  return { path: `/proc/self/fd/${fd}/${proxyFiles.socket}`, close: () => closeSync(fd) };
}

/** The text of a longer line is cut, so it is no JSON. */
const maxLineBytes = 16 * 1024 * 1024;

export function sendLine(socket: Socket, value: unknown): void {
  if (!socket.destroyed) socket.write(`${JSON.stringify(value)}\n`);
}

/** Anything but a line of JSON closes the connection. */
export function readLines(socket: Socket, take: (value: unknown) => void): void {
  const lines = new Lines(maxLineBytes);
  socket.on('data', (chunk: Buffer) => {
    try {
      for (const line of lines.push(chunk)) take(JSON.parse(line));
    } catch {
      socket.destroy();
    }
  });
}
