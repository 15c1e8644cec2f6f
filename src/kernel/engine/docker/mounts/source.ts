/** Checks folders and files of the host before the Docker Engine gets their paths. */
import { chownSync, closeSync, fstatSync, readdirSync } from 'node:fs';
import { isErrno } from '../../../../lib/file/file.ts';
import { type IdMapping, insideId, outsideId, readIdMap } from '../../../../lib/sys/id-map.ts';
import { Fault } from '../../../../model/fault.ts';
import type { Mount } from '../../../../model/mount.ts';
import { eachPlainFile, openSource, refuseReplaced } from '../../local/stage/source.ts';
import type { HostOwner } from './identity.ts';
import type { View } from './view.ts';

/** The paths at which the engine finds the sources of mounts and the layers of overlays, by the index of the mount. */
export interface MountSources {
  source(index: number): string;
  changes(index: number): string;
}

/**
 * The original paths, for an engine that cannot see the stage. They are checked, and a change of owner gives the
 * daemon's own folders to agent.
 */
export function plainSources(mounts: readonly Mount[], agent: HostOwner, maps: IdMaps, view: View): MountSources {
  const sources = mounts.map((mount) => (mount.kind === 'tmpfs' ? '' : view(checked(mount, agent, maps))));
  return {
    source: (index) => sources[index]!,
    changes: (index) => {
      const mount = mounts[index];
      return mount?.kind === 'overlay' ? view(mount.folder) : '';
    },
  };
}

function checked(mount: Exclude<Mount, { kind: 'tmpfs' }>, agent: HostOwner, maps: IdMaps): string {
  const source = mount.kind === 'bind' ? mount.source : mount.lower;
  withSource(source, (fd) => {
    if (mount.kind === 'bind' && mount.shared) refuseReplaced(source, fd, mount.shared);
  });
  if (mount.kind === 'bind' && mount.own) giveTo(source, agent, maps);
  if (mount.kind === 'bind' && mount.own && mount.readonly) giveFilesTo(source, agent, maps);
  return source;
}

/** Maps of user and group ids: `inside` is an id of the daemon, `outside` the same id on the host. */
export interface IdMaps {
  readonly uids: readonly IdMapping[];
  readonly gids: readonly IdMapping[];
}

export function readIdMaps(): IdMaps {
  return { uids: readIdMap('uid'), gids: readIdMap('gid') };
}

export function ownerOf(path: string, maps: IdMaps): HostOwner {
  return withSource(path, (fd) => onHost(fstatSync(fd), maps));
}

/** Translates ids to those of the host, for a daemon that is root in a user namespace only. */
export function onHost({ uid, gid }: HostOwner, { uids, gids }: IdMaps): HostOwner {
  return { uid: outsideId(uids, uid) ?? uid, gid: outsideId(gids, gid) ?? gid };
}

/** `owner` has ids of the host. */
export function giveTo(path: string, owner: HostOwner, maps: IdMaps): void {
  withSource(path, (fd) => give(fd, path, owner, maps));
}

function giveFilesTo(path: string, owner: HostOwner, maps: IdMaps): void {
  withSource(path, (folderFd) => {
    if (fstatSync(folderFd).isDirectory()) eachPlainFile(folderFd, (fd) => give(fd, path, owner, maps));
  });
}

function give(fd: number, path: string, owner: HostOwner, maps: IdMaps): void {
  const [uid, gid] = [insideId(maps.uids, owner.uid), insideId(maps.gids, owner.gid)];
  const now = fstatSync(fd);
  if (now.uid === uid && now.gid === gid) return;
  if (uid === null || gid === null) throw notGiven(path, owner);
  try {
    chownSync(`/proc/self/fd/${fd}`, uid, gid);
  } catch (error) {
    if (isErrno(error, 'EPERM')) throw notGiven(path, owner, error);
    throw error;
  }
}

export function isEmpty(path: string): boolean {
  return withSource(path, (fd) => readdirSync(`/proc/self/fd/${fd}`).length === 0);
}

/** Throws when the path does not exist or contains a link. */
function withSource<T>(path: string, look: (fd: number) => T): T {
  const fd = openSource(path);
  try {
    return look(fd);
  } finally {
    closeSync(fd);
  }
}

function notGiven(path: string, { uid }: HostOwner, cause?: unknown): Fault {
  return new Fault('unsupported', `${path} cannot be given to uid ${uid}, which the container runs as`, {
    cause,
    hint: 'Run the daemon as root, or use the embedded engine: --engine local.',
  });
}
