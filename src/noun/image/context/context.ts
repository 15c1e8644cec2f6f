/**
 * The context of a build: what the engine sees of a project. `collect` lists the files that the Dockerfile copies and
 * `.dockerignore` does not leave out; `checksumOf` computes a checksum of them; `pack` writes them into a tar archive.
 *
 * Promises:
 * - Only files below the project get in. Folders are entered by descriptor, links are copied as links and not followed,
 *   and only regular files are read, whatever is put at a path meanwhile.
 * - Size, number of entries and depth are limited; more is refused.
 * - The same files give the same archive: entries are in the order of their paths, belong to root and have no time.
 * - An archive fails at its end if the files are no longer those of the checksum.
 */
import type { BytePath } from '../../../model/byte-path.ts';
import type { Files } from '../dockerfile/dockerfile.ts';
import type { Ignore } from './ignore.ts';

export interface ContextEntry {
  readonly path: BytePath;
  readonly kind: 'file' | 'folder' | 'link';
  readonly mode: number;
  readonly sizeBytes: number;
  /** The target of a link. */
  readonly target: BytePath;
}

export interface ContextLimits {
  readonly maxBytes: number;
  readonly maxEntries: number;
}

export interface WantedFiles {
  /** The Dockerfile, for messages. */
  readonly file: string;
  readonly files: readonly Files[];
  readonly ignore: Ignore;
}

/** A file that is added to those of the project. */
export interface Extra {
  readonly path: string;
  readonly mode: number;
  readonly content: Buffer;
}
