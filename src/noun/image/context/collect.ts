/**
 * Collects what a build sees of a project: the files its Dockerfile copies and no others. Folders are entered by
 * descriptor, links are copied as links and not followed, and everything has a limit.
 */

import { readlinkSync, type Stats } from 'node:fs';
import { posix } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import type { Anchor } from '../../../lib/file/anchor.ts';
import { isErrno } from '../../../lib/file/file.ts';
import { type BytePath, fromBytes, fromText, toBytes, toText } from '../../../model/byte-path.ts';
import { Fault } from '../../../model/fault.ts';
import { formatSize } from '../../../model/size.ts';
import { refusal } from '../dockerfile/parse.ts';
import type { ContextEntry, ContextLimits, WantedFiles } from './context.ts';
import { matchesName, type NamePattern, namePattern } from './pattern.ts';

const contextLimits: ContextLimits = { maxBytes: 1024 ** 3, maxEntries: 100_000 };
const maxDepth = 200;

/** Returns the entries in the order of their paths. */
export async function collect(
  root: Anchor,
  wanted: WantedFiles,
  limits: ContextLimits = contextLimits,
): Promise<ContextEntry[]> {
  const collector = new Collector(wanted, limits);
  for (const { line, patterns } of wanted.files) {
    for (const pattern of patterns) await collector.take(root, line, pattern);
  }
  return collector.entries();
}

class Collector {
  readonly #wanted: WantedFiles;
  readonly #limits: ContextLimits;
  readonly #found = new Map<BytePath, ContextEntry>();
  #bytes = 0;
  #looks = 0;

  constructor(wanted: WantedFiles, limits: ContextLimits) {
    this.#wanted = wanted;
    this.#limits = limits;
  }

  entries(): ContextEntry[] {
    return [...this.#found.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
  }

  async take(root: Anchor, line: number, pattern: string): Promise<void> {
    const path = posix.normalize(`/${pattern}`).replace(/^\/|\/$/g, '');
    if (path === '') return this.#subtree(root, '', 0);
    const names = path.split('/').map((name) => namePattern(name));
    if (!names.every((name) => name !== null)) throw refusal(this.#wanted.file, line, `${pattern} is not understood`);
    if (await this.#select(root, '', names, line)) return;
    const hint = 'Name it from the folder of the project; .dockerignore may leave it out.';
    throw refusal(this.#wanted.file, line, `the project has no ${pattern} for a build`, hint);
  }

  /** Returns whether anything matched. */
  async #select(folder: Anchor, above: BytePath, [name, ...rest]: NamePattern[], line: number): Promise<boolean> {
    let any = false;
    for (const one of this.#named(folder, name!)) {
      const path = above === '' ? one : `${above}/${one}`;
      const stat = folder.look(toBytes(one));
      if (stat?.isSymbolicLink()) {
        if (this.#wanted.ignore.leavesOut(path)) continue;
        throw refusal(this.#wanted.file, line, `${toText(path)} is a link`, 'Name what it leads to.');
      }
      if (rest.length === 0) any = (await this.#add(folder, one, path, 0)) || any;
      else if (stat?.isDirectory())
        any = (await this.#entered(folder, one, (inner) => this.#select(inner, path, rest, line))) || any;
    }
    return any;
  }

  #named(folder: Anchor, pattern: NamePattern): BytePath[] {
    if (pattern.literal === null) return folder.list().filter((name) => matchesName(pattern, toText(name)));
    const name = fromText(pattern.literal);
    return folder.look(toBytes(name)) === null ? [] : [name];
  }

  async #subtree(folder: Anchor, above: BytePath, depth: number): Promise<void> {
    if (depth > maxDepth) throw new Fault('invalid', `${toText(above).slice(0, 80)}… is too deep for a build`);
    for (const name of folder.list()) await this.#add(folder, name, above === '' ? name : `${above}/${name}`, depth);
  }

  /** Adds an entry with everything in it. Returns whether the context has any of it. */
  async #add(folder: Anchor, name: BytePath, path: BytePath, depth: number): Promise<boolean> {
    if (++this.#looks % 256 === 0) await breathe();
    const { ignore } = this.#wanted;
    const stat = folder.look(toBytes(name));
    const out = ignore.leavesOut(path);
    if (stat === null || (out && !(stat.isDirectory() && ignore.mayKeep))) return false;
    const before = this.#found.size;
    const known = this.#found.has(path);
    if (!out) this.#keep(path, stat, folder, name);
    if (stat.isDirectory()) await this.#entered(folder, name, (inner) => this.#subtree(inner, path, depth + 1));
    return known || this.#found.size > before;
  }

  /** Keeps files, folders and links only: pipes, sockets and devices have no content. */
  #keep(path: BytePath, stat: Stats, folder: Anchor, name: BytePath): void {
    const kind = stat.isFile() ? 'file' : stat.isDirectory() ? 'folder' : stat.isSymbolicLink() ? 'link' : null;
    if (kind === null || this.#found.has(path)) return;
    const sizeBytes = kind === 'file' ? stat.size : 0;
    this.#found.set(path, {
      path,
      kind,
      mode: stat.mode & 0o777,
      sizeBytes,
      target: kind === 'link' ? fromBytes(readlinkSync(folder.at(toBytes(name)), { encoding: 'buffer' })) : '',
    });
    this.#bytes += sizeBytes;
    if (this.#bytes <= this.#limits.maxBytes && this.#found.size <= this.#limits.maxEntries) return;
    const what = `${this.#found.size} entries of ${formatSize(this.#bytes)}`;
    throw new Fault('exhausted', `${this.#wanted.file} copies too much of the project: ${what} and more`, {
      hint: 'Copy less, or leave something out with .dockerignore.',
    });
  }

  /** A folder that is gone or became a link counts as empty. */
  async #entered<T>(folder: Anchor, name: BytePath, work: (inner: Anchor) => Promise<T>): Promise<T | false> {
    let inner: Anchor;
    try {
      inner = folder.enter(toBytes(name));
    } catch (error) {
      if (['ENOENT', 'ELOOP', 'ENOTDIR'].some((code) => isErrno(error, code))) return false;
      throw error;
    }
    try {
      return await work(inner);
    } finally {
      inner.close();
    }
  }
}
