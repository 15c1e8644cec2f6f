/**
 * Images are what sandboxes of an engine that has images are made of.
 *
 * Two kinds are made here. The base has our tools, git, Node and Python, on a parent that the owner chooses. The image of a
 * project is the base and what `.carrel/Dockerfile.sandbox` adds to it, or what its package managers ask for.
 *
 * Promises:
 * - An image is made anew only when something that goes into it changed: the Dockerfile, a file that it copies, the base. A
 *   checksum of all of it is in a label of the image.
 * - A Dockerfile of a project reaches nothing but the files it names in the project, earlier stages, the base and the network
 *   of the build: no other image, no mount, no secret, no file outside, whatever links are planted.
 * - Whoever stops a build stops everything that it began. What is recorded is an image that is there.
 * - A name that somebody may use stands for one content, by its id. When the name comes to stand for another, it is refused
 *   until the owner says so.
 * - The name of one project's image is never given to another folder.
 */
import type { Image } from '../model/image.ts';
import type { Limits } from '../model/limits.ts';

/** What an engine knows of an image. */
export interface FoundImage {
  readonly id: string;
  /** Names by content that registries know it by. */
  readonly digests: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly sizeBytes: number;
  /** PATH of programs that are made of it. */
  readonly path: string | null;
  /** What it runs on, such as `linux/amd64`. */
  readonly platform: string;
}

export interface BuildOrder {
  /** A tar archive; what it holds is all that the build sees. */
  readonly archive: AsyncIterable<Buffer>;
  /** The name of the Dockerfile in it. */
  readonly dockerfile: string;
  readonly tag: string;
  /** Whether it may use the network that containers have. */
  readonly network: boolean;
  readonly limits: Pick<Limits, 'cpus' | 'memoryBytes' | 'swapBytes'>;
}

export interface ImportOrder {
  readonly archive: AsyncIterable<Buffer>;
  readonly tag: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** What an engine says while it builds. */
export type BuildMessage =
  | { readonly kind: 'output'; readonly text: string }
  | { readonly kind: 'image'; readonly id: string }
  | { readonly kind: 'failure'; readonly message: string; readonly exitCode: number | null };

/** The part of an engine that has images. */
export interface ImageEngine {
  /** Refuses where nothing can be built; asked before anything is. */
  requireBuilder(): Promise<void>;
  /** By id or name; null when it is not there. */
  find(reference: string): Promise<FoundImage | null>;
  /** Why no sandbox can be made of one that is there; null: one can. */
  refusal(image: FoundImage): Promise<string | null>;
  /** Those with a label, but for what others are built on. */
  labelled(label: string): Promise<readonly FoundImage[]>;
  /** Fetched from the registry its name says. */
  pull(reference: string, signal: AbortSignal): AsyncIterable<BuildMessage>;
  /** A root filesystem, with a name and labels. */
  import(order: ImportOrder, signal: AbortSignal): AsyncIterable<BuildMessage>;
  /** Ends when the signal does, with all that it began. */
  build(order: BuildOrder, signal: AbortSignal): AsyncIterable<BuildMessage>;
  /** One that something is made of stays. */
  remove(id: string): Promise<void>;
}

/** Where it is remembered what names stand for. */
export interface ImageRecords {
  find(name: string): Image | null;
  list(): readonly Image[];
  save(image: Image): void;
  remove(name: string): void;
}

/** What somebody who waits for a build wants to know. */
export type BuildEvent =
  | { readonly kind: 'phase'; readonly text: string }
  | { readonly kind: 'step'; readonly number: number; readonly total: number; readonly title: string }
  | { readonly kind: 'output'; readonly text: string };

export interface Built {
  readonly image: Image;
  /** False: it was as it should be already. */
  readonly built: boolean;
  readonly notes: readonly string[];
}
