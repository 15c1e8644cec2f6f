/**
 * Shares: a folder of the host that several consumers see.
 *
 * The folder is checked once, when the share is added (`folder.ts`), and recorded by real path, device and inode. Engines mount it by an
 * open descriptor and refuse another folder at that path. Sandboxes see the owner of the folder as `agent`, so that what one
 * sandbox writes the others can read and write, and on the host it belongs to the owner of the folder. Consumers outside of Carrel
 * get access by ACL entries of the folder that new files inherit (`acl.ts`): a group for containers, a user for guests and people. No
 * account gets access that was not named.
 *
 * No other noun opens, checks or mounts a folder itself: a sandbox has `ShareMount`s in its spec (`model.ts`), and gets them by
 * `ShareGrants`. A share may name sandboxes and projects that do not exist yet, so these get it without a request of their own.
 *
 * `mounted.ts` observes and takes away the mount of a running sandbox, `probe.ts` proves that a consumer and the host see each other's
 * files, `render.ts` writes the lines by which other programs mount the folder.
 */
import type { SandboxSpec } from '../sandbox/model.ts';
import type { ShareMount, ShareRequest } from './model.ts';

/** A request for a sandbox, as far as it concerns shares. */
export interface SandboxShareRequest {
  /** The name of the sandbox. */
  readonly name?: string | undefined;
  readonly shares?: readonly ShareRequest[] | undefined;
  /** What else is mounted: no share is put into it or around it. */
  readonly volumes?: readonly { readonly target: string }[] | undefined;
}

export interface ShareGrants {
  /**
   * The shares that a new sandbox of a user gets: those of the request, and those that name the sandbox or its project.
   * `project`: the folder that it works on. Throws if there is no such share, or if it is being revoked.
   */
  mounts(user: string, request: SandboxShareRequest, project: string | null): ShareMount[];
  /** Throws if a share was revoked since the spec was made. */
  require(spec: Pick<SandboxSpec, 'shares'>): void;
}
