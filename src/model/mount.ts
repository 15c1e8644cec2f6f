/**
 * A Mount is all that workspaces, volumes and engines know of each other: what appears where inside a sandbox.
 * Targets are absolute paths inside; sources are absolute paths on the host and must not be writable by an agent
 * in any of their parents.
 */
export type Mount =
  | {
      readonly kind: 'bind';
      readonly source: string;
      readonly target: string;
      readonly readonly: boolean;
      /** The name of the volume that `source` holds, for engines that know volumes by name. */
      readonly volume?: string;
      /** The owner of `source` on the host appears as `agent` inside, and the other way round. */
      readonly mapOwner?: boolean;
      /**
       * A folder of this sandbox alone: it is given to `agent`. If it is read-only, so are the plain files directly in it,
       * which agent could not take over: what only their owner may read is then agent's to read.
       */
      readonly own?: boolean;
    }
  | {
      readonly kind: 'overlay';
      /** Shown through where nothing was changed. */
      readonly lower: string;
      /** As above, for `lower`. */
      readonly mapOwner?: boolean;
      /** Holds `upper`, where changes go, and `work`, which is the kernel's; both of this sandbox alone. */
      readonly folder: string;
      readonly target: string;
      /** A file of `lower` with several names stays one when it is changed, where the engine and the kernel can. */
      readonly keepsLinks?: boolean;
    }
  | { readonly kind: 'tmpfs'; readonly target: string; readonly sizeBytes: number; readonly mode: number };
