/** Device numbers may differ after a boot, so the device counts within one boot only. */
export interface FolderIdentity {
  readonly device: string;
  readonly inode: string;
  readonly bootId: string;
}

export function isSameFolder(one: FolderIdentity, other: FolderIdentity): boolean {
  return one.inode === other.inode && (one.device === other.device || one.bootId !== other.bootId);
}

/**
 * A Mount is all that workspaces, volumes and engines know about each other: what appears where inside a sandbox.
 * Targets are absolute paths inside; sources are absolute paths on the host and must not be writable by an agent
 * in any of their parents.
 */
export type Mount =
  | {
      readonly kind: 'bind';
      readonly source: string;
      readonly target: string;
      readonly readonly: boolean;
      /** The name of the volume at `source`, for engines that have named volumes. */
      readonly volume?: string;
      /** The owner of `source` on the host appears as `agent` inside, and vice versa. */
      readonly mapOwner?: boolean;
      /**
       * A folder of this sandbox alone: the engine makes `agent` its owner. If the mount is read-only, the engine also
       * makes `agent` the owner of the plain files directly in it, so that `agent` can read files that only their owner
       * may read.
       */
      readonly own?: boolean;
      /**
       * The identity of the shared folder: the engine refuses another folder at `source`. `agent` can write files of
       * other owners if their mode allows it, since consumers outside write there too.
       */
      readonly shared?: FolderIdentity;
      /** Only the daemon reads and writes below the source, so no name in it can become a link. */
      readonly daemonOnly?: boolean;
    }
  | {
      readonly kind: 'overlay';
      /** The folder whose content is visible except for changed paths. */
      readonly lower: string;
      /** The owner of `lower` on the host appears as `agent` inside, and vice versa. */
      readonly mapOwner?: boolean;
      /** Holds `upper`, for changes, and `work`, for the kernel; both for this sandbox alone. */
      readonly folder: string;
      readonly target: string;
      /** A file of `lower` with several names stays one file when it is changed, if the engine and the kernel can. */
      readonly keepsLinks?: boolean;
    }
  | { readonly kind: 'tmpfs'; readonly target: string; readonly sizeBytes: number; readonly mode: number };
