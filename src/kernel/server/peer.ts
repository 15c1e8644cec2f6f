/** The process at the other end of a connection, as the kernel reports it. */
import type { Socket } from 'node:net';
import { type IdMapping, outsideId, readIdMap } from '../../lib/sys/id-map.ts';
import { peerOf } from '../../lib/sys/sys-socket.ts';
import type { Peer } from '../audit/audit.ts';

/** Uses the descriptor of the socket, which is not in Node's public API. */
export function peerOfSocket(socket: Socket | undefined): Peer | null {
  const fd = (socket as { readonly _handle?: { readonly fd?: number } } | undefined)?._handle?.fd;
  if (fd === undefined || fd < 0) return null;
  const { uid, pid } = peerOf(fd);
  uidMap ??= readIdMap('uid');
  return { uid: outsideId(uidMap, uid) ?? uid, pid };
}

/** Maps ids, because accounts have other ids inside a user namespace than outside. */
let uidMap: readonly IdMapping[] | undefined;
