/** Reads files in the order of their paths: the folder of one is mostly the folder of the next, and stays open. */

import { openSync, readSync } from 'node:fs';
import type { Anchor } from '../lib/anchor.ts';
import type { BytePath } from '../model/byte-path.ts';
import type { Content } from '../model/change.ts';
import {
  type Copied,
  copyContent,
  folderBelow,
  hashOf,
  openRegular,
  type Part,
  readContent,
  using,
} from './content.ts';

interface Near {
  readonly path: BytePath;
  readonly folder: Anchor | null;
}

export class SortedReader {
  readonly #near = new Map<string, Near>();

  /** Null when it is gone, no regular file any more, or larger than that. */
  read(content: Content, path: BytePath, maxBytes: number): Buffer | null {
    if (content.at !== 'tree') return readContent(content, path, maxBytes);
    return using(this.#open(content.root, path), (part) => (part.lengthBytes > maxBytes ? null : readPart(part)));
  }

  hash(content: Content, path: BytePath): Copied | null {
    if (content.at === 'lost') return null;
    if (content.at === 'tree') return using(this.#open(content.root, path), hashOf);
    return using({ ...content, fd: openSync(content.file, 'r') }, hashOf);
  }

  copy(content: Content, path: BytePath, toFd: number): Copied | null {
    return copyContent(content, path, toFd);
  }

  close(): void {
    for (const { folder } of this.#near.values()) folder?.close();
    this.#near.clear();
  }

  #open(root: string, path: BytePath): Part | null {
    const slash = path.lastIndexOf('/');
    const folder = this.#folder(root, path.slice(0, Math.max(slash, 0)));
    return folder && openRegular(folder, path.slice(slash + 1));
  }

  #folder(root: string, path: BytePath): Anchor | null {
    const near = this.#near.get(root);
    if (near?.path === path) return near.folder;
    near?.folder?.close();
    const folder = folderBelow(root, path === '' ? [] : path.split('/'));
    this.#near.set(root, { path, folder });
    return folder;
  }
}

function readPart({ fd, lengthBytes }: Part): Buffer {
  const bytes = Buffer.allocUnsafe(lengthBytes);
  let length = 0;
  while (length < lengthBytes) {
    const read = readSync(fd, bytes, length, lengthBytes - length, length);
    if (read === 0) break;
    length += read;
  }
  return bytes.subarray(0, length);
}
