/** The access that consumers outside of Carrel have to the folder of a share. */

import { within } from '../../../lib/file/anchor.ts';
import { insideId, readIdMap } from '../../../lib/sys/id-map.ts';
import { SysError } from '../../../lib/sys/sys.ts';
import { Fault, isFault } from '../../../model/fault.ts';
import { type AclEntry, cannotGrant, changeGrants } from '../acl.ts';
import { openFolder } from '../folder.ts';
import { type Consumer, consumerText, isOutside, type Share } from '../model.ts';

/** Idempotent. Changes nothing if only sandboxes are consumers: inside, `agent` owns the folder. */
export function grantAccess(share: Share): void {
  const granted = grantsOf(share, share.consumers);
  if (granted.length > 0) within(openFolder(share), ({ fd }) => change(share, fd, granted, []));
}

/** Refuses what could not be granted, before anything is recorded. */
export function checkGrants(share: Share): void {
  grantsOf(share, share.consumers);
}

/**
 * Idempotent. `share` is without that consumer. False: the folder is not there any more, so it gives access to none.
 */
export function takeAccess(share: Share, revoked: Consumer): boolean {
  try {
    const [left, gone] = [share.consumers, [revoked]].map((some) => grantsOf(share, some.filter(isKnown)));
    within(openFolder(share), ({ fd }) => change(share, fd, left!, gone!));
    return true;
  } catch (error) {
    if (isFault(error, 'not_found') || isFault(error, 'denied')) return false;
    throw error;
  }
}

function change(share: Share, fd: number, granted: readonly AclEntry[], gone: readonly AclEntry[]): void {
  try {
    changeGrants(fd, granted, gone);
  } catch (error) {
    throw error instanceof SysError ? cannotGrant(share.folder, error) : error;
  }
}

/** Whether the daemon can name the account in an ACL; no other account ever got access. */
function isKnown({ uid }: Consumer): boolean {
  return uid === null || insideId(readIdMap('uid'), uid) !== null;
}

/**
 * One grant per id: containers have the group in common, and guests often the same user. It may write if one of them
 * may.
 */
function grantsOf({ groupId }: Share, consumers: readonly Consumer[]): AclEntry[] {
  const all = consumers.filter((one) => isOutside(one) && one.uid !== 0).map((one) => grantOf(one, groupId));
  const isSame = (one: AclEntry, other: AclEntry) => one.kind === other.kind && one.id === other.id;
  const first = all.filter((one, at) => all.findIndex((other) => isSame(one, other)) === at);
  return first.map((one) => ({ ...one, readonly: all.every((other) => !isSame(one, other) || other.readonly) }));
}

function grantOf(consumer: Consumer, groupId: number): AclEntry {
  return consumer.uid === null
    ? { kind: 'group', id: own('gid', groupId), readonly: consumer.readonly }
    : userGrant(consumer);
}

function userGrant(consumer: Consumer): AclEntry {
  const id = insideId(readIdMap('uid'), consumer.uid!);
  if (id !== null) return { kind: 'user', id, readonly: consumer.readonly };
  throw new Fault('unsupported', `without root, ${consumerText(consumer)} cannot be given access to a folder`, {
    hint: `Run the daemon as root; or grant it yourself: setfacl -m u:${consumer.uid}:rwx,d:u:${consumer.uid}:rwx FOLDER`,
  });
}

/** The id inside the user namespace for an id of the host in the range of the daemon. */
function own(kind: 'uid' | 'gid', id: number): number {
  const inside = insideId(readIdMap(kind), id);
  if (inside !== null) return inside;
  throw new Fault('unsupported', `the ${kind} ${id} is outside of the range of the daemon`, {
    hint: 'The range in /etc/subgid has changed since the share was added: revoke the share and add it again.',
  });
}
