/**
 * Images are the root filesystems of sandboxes on an engine that has images.
 *
 * Three kinds are built here: the base, the images of projects, and that of the hub of a compose file, which is not for
 * sandboxes: the daemon passes its root filesystem. The base has Carrel's tools, git, Node and Python, on a parent that the
 * owner chooses. The image of a project is the base and what `.carrel/Dockerfile.sandbox` adds to it, or what its package
 * managers need.
 *
 * Life cycle of an image: the input is collected and checked → built by the engine → recorded → used by sandboxes, by
 * its id → removed, when a newer version exists and no sandbox needs it.
 *
 * Other nouns know images by names: `UsableImages` says what a name stands for, and refuses one that a user may not
 * use. The other types are for the engine of this noun, its records and the clients that wait for a build.
 *
 * Promises:
 * - An image is built again only when one of its inputs changed: the Dockerfile, a file that it copies, the base. A
 *   label of the image holds a checksum of all of them.
 * - A project's Dockerfile reaches only the files it names in the project, earlier stages, the base and the network of
 *   the build: no other image, no mount, no secret, no file outside, whatever links are planted.
 * - Cancelling a build ends everything that it began. An image is recorded only after it exists.
 * - A name that may be used stands for one content, by its id. When the name stands for another content later, it is
 *   refused until the owner allows that.
 * - The name of one project's image is never given to another folder.
 */

import type { Limits } from '../../model/limits.ts';
import type { Image } from './model.ts';

/** The images that one user may use. Each name is refused unless the owner lists it or, for the owner, it was built here. */
export interface UsableImages {
  /** Refuses a name that the user may not use. The engine is not asked, so the image may be missing. */
  check(name: string): void;
  /** Also refuses an image that the engine does not have, that changed, or of which it can make no sandbox. Records nothing. */
  prove(name: string): Promise<void>;
  /** As `prove`; from then on the name stands for this content. */
  resolve(name: string): Promise<AllowedImage>;
}

export interface AllowedImage {
  readonly name: string;
  /** Sandboxes are made by the id, which stands for one content. */
  readonly id: string;
  /** The PATH that is set in the image. */
  readonly path: string | null;
}

/** What an engine reports about an image. */
export interface FoundImage {
  readonly id: string;
  /** Digests by which registries know it. */
  readonly digests: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly sizeBytes: number;
  /** The PATH that is set in the image. */
  readonly path: string | null;
  /** The platform, such as `linux/amd64`. */
  readonly platform: string;
}

export interface BuildOrder {
  /** A tar archive with everything that the build sees. */
  readonly archive: AsyncIterable<Buffer>;
  /** The name of the Dockerfile in it. */
  readonly dockerfile: string;
  readonly tag: string;
  /** Whether the build may use the network of containers. */
  readonly network: boolean;
  readonly limits: Pick<Limits, 'cpus' | 'memoryBytes' | 'swapBytes'>;
}

export interface ImportOrder {
  readonly archive: AsyncIterable<Buffer>;
  readonly tag: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Instructions of a Dockerfile that say how the image is started. */
  readonly settings?: readonly string[];
}

/** What an engine reports during a build. */
export type BuildMessage =
  | { readonly kind: 'output'; readonly text: string }
  | { readonly kind: 'image'; readonly id: string }
  | { readonly kind: 'failure'; readonly message: string; readonly exitCode: number | null };

/** The part of an engine that handles images. */
export interface ImageEngine {
  /** Throws if the engine cannot build; called before any work. */
  requireBuilder(): Promise<void>;
  /** By id or name; null when it does not exist. */
  find(reference: string): Promise<FoundImage | null>;
  /** Why no sandbox can be made of an image; null: one can. */
  refusal(image: FoundImage): Promise<string | null>;
  /** Images with a label, except those that others are built on. */
  labelled(label: string): Promise<readonly FoundImage[]>;
  /** Pulls an image from the registry that its name contains. */
  pull(reference: string, signal: AbortSignal): AsyncIterable<BuildMessage>;
  /** Imports a root filesystem, with a name and labels. */
  import(order: ImportOrder, signal: AbortSignal): AsyncIterable<BuildMessage>;
  /** Ends when the signal is aborted, with everything that it began. */
  build(order: BuildOrder, signal: AbortSignal): AsyncIterable<BuildMessage>;
  /** Fails for an image that is in use. */
  remove(id: string): Promise<void>;
}

/** The persistent records of what the names of images stand for. */
export interface ImageRecords {
  find(name: string): Image | null;
  list(): readonly Image[];
  save(image: Image): void;
  remove(name: string): void;
}

/** An event for the client that waits for a build. */
export type BuildEvent =
  | { readonly kind: 'phase'; readonly text: string }
  | { readonly kind: 'step'; readonly number: number; readonly total: number; readonly title: string }
  | { readonly kind: 'output'; readonly text: string };

export interface Built {
  readonly image: Image;
  /** False: the image was up to date. */
  readonly built: boolean;
  readonly notes: readonly string[];
}
