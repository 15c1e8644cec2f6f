/** Where an installation keeps what. */

/** The folders of this installation. */
export interface Places {
  readonly home: string;
  /** A short, stable id: part of the names that this installation uses on the machine, so that they are unique. */
  readonly installation: string;
  /** The folder of one sandbox, removed with the sandbox. */
  sandbox(id: string): string;
  /** The folder that a sandbox keeps over stop and start. A restored snapshot replaces it as a whole. */
  state(id: string): string;
  /** The home of a user, the lower layer of homes in sandboxes. */
  userHome(user: string): string;
  volume(name: string): string;
  base(id: string): string;
  /** Whether the kernel can mount overlays on this filesystem. */
  readonly overlays: boolean;
  /** Whether the daemon is root only in a user namespace. */
  readonly rootless: boolean;
  readonly images: string;
  /** Copies of the programs that run inside, one folder per version. */
  readonly tools: string;
}
