/** Reports changes in inboxes: by inotify where it works, otherwise by polling. */
import { randomBytes } from 'node:crypto';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FolderWatch } from '../../../lib/file/folder-watch.ts';
import { SysError } from '../../../lib/sys/sys.ts';

export type WatchKind = 'inotify' | 'polling';

/** Null: any name may have changed. */
type Noticed = (name: Buffer | null) => void;

/**
 * Filesystems that other machines can write to without the kernel's knowledge: nfs, smb, smb2, cifs, 9p, fuse (virtiofs
 * too), ceph, afs.
 */
const remoteTypes: readonly number[] = [
  0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x01021997, 0x65735546, 0x00c36400, 0x5346414f,
];
const probeMs = 500;
const pollMs = 500;
const probePrefix = '.carrel-probe-';

type Events = Pick<FolderWatch, 'add' | 'remove' | 'close'>;
/** Null: inotify is not available. */
type OpenEvents = (noticed: (folder: string, name: Buffer | null) => void) => Events | null;

interface Watched {
  readonly noticed: Noticed;
  kind: WatchKind;
  poll: NodeJS.Timeout | null;
  probed: (() => void) | null;
}

export class InboxWatch {
  readonly #events: Events | null;
  readonly #folders = new Map<string, Watched>();
  readonly #isRemote: (folder: string) => boolean;

  constructor(isRemote = onRemoteFilesystem, openEvents: OpenEvents = opened) {
    this.#events = openEvents((folder, name) => this.#notice(folder, name));
    this.#isRemote = isRemote;
  }

  /** Resolves when it is known how the folder is watched; changes are reported before that too. */
  async add(folder: string, noticed: Noticed): Promise<WatchKind> {
    const watched: Watched = { noticed, kind: 'polling', poll: null, probed: null };
    this.#folders.set(folder, watched);
    if (!this.#isRemote(folder) && this.#isAdded(folder) && (await this.#probe(folder, watched)))
      watched.kind = 'inotify';
    if (watched.kind === 'polling' && this.#folders.get(folder) === watched) {
      watched.poll = setInterval(() => noticed(null), pollMs);
      watched.poll.unref();
    }
    return watched.kind;
  }

  remove(folder: string): void {
    const watched = this.#folders.get(folder);
    this.#folders.delete(folder);
    this.#events?.remove(folder);
    clearInterval(watched?.poll ?? undefined);
    watched?.probed?.();
  }

  close(): void {
    for (const folder of [...this.#folders.keys()]) this.remove(folder);
    this.#events?.close();
  }

  #notice(folder: string, name: Buffer | null): void {
    const watched = this.#folders.get(folder);
    if (name?.subarray(0, probePrefix.length).equals(Buffer.from(probePrefix))) watched?.probed?.();
    else watched?.noticed(name);
  }

  /** False: inotify is not available or has no watches left. */
  #isAdded(folder: string): boolean {
    try {
      this.#events?.add(folder);
      return this.#events !== null;
    } catch (error) {
      if (error instanceof SysError) return false;
      throw error;
    }
  }

  /** Whether inotify reports a file that is written to the folder. */
  async #probe(folder: string, watched: Watched): Promise<boolean> {
    const file = join(folder, `${probePrefix}${randomBytes(8).toString('hex')}`);
    let timer: NodeJS.Timeout | undefined;
    const reported = new Promise<boolean>((resolve) => {
      watched.probed = () => resolve(true);
      timer = setTimeout(() => resolve(false), probeMs);
    });
    try {
      writeFileSync(file, '', { flag: 'wx', mode: 0o600 });
      return await reported;
    } finally {
      clearTimeout(timer);
      watched.probed = null;
      rmSync(file, { force: true });
    }
  }
}

function onRemoteFilesystem(folder: string): boolean {
  return remoteTypes.includes(Number(statfsSync(folder).type) >>> 0);
}

function opened(noticed: (folder: string, name: Buffer | null) => void): FolderWatch | null {
  try {
    return new FolderWatch(['closedAfterWrite', 'movedTo', 'created'], noticed);
  } catch (error) {
    if (error instanceof SysError) return null;
    throw error;
  }
}
