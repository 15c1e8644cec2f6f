/**
 * Shares: a folder of the host that several consumers see.
 *
 * The folder is checked once, when the share is added (`folder.ts`), and recorded by real path, device and inode. Engines mount it by an
 * open descriptor and refuse another folder at that path. Sandboxes see the owner of the folder as `agent`, so that what one
 * sandbox writes the others can read and write, and on the host it belongs to the owner of the folder. Consumers outside of Carrel
 * get access by ACL entries of the folder that new files inherit (`acl.ts`): a group for containers, a user for guests and people. No
 * account gets access that was not named.
 *
 * `mounted.ts` observes and takes away the mount of a running sandbox, `probe.ts` proves that a consumer and the host see each other's
 * files, `render.ts` writes the lines by which other programs mount the folder.
 */
import type { Share } from './model.ts';

/** The rules that decide whether a folder may be shared. */
export interface FolderRules {
  /** The home of Carrel. */
  readonly home: string;
  /** Folders of the host that sandboxes can write. */
  readonly open: readonly string[];
  /** Sockets that give root on the host. */
  readonly sockets: readonly string[];
  /** The other shares of the installation. */
  readonly shares: readonly Pick<Share, 'name' | 'folder'>[];
  /** The account whose folders may be shared; `any`: all, null: none. */
  readonly account: number | null | 'any';
}
