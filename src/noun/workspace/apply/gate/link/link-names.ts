/**
 * The other names by which a project reaches a path: through symbolic links to it, to a folder above it, and to folders that
 * hold such links. Pure: links are known by their text, and nothing is followed on a disk.
 *
 * Names are plain (`plain-name.ts`), so that links also count on filesystems that ignore case or some characters.
 */
import type { BytePath } from '../../../../../model/byte-path.ts';
import { plainName } from './plain-name.ts';

export interface Names {
  /** Plain names, the requested one first. */
  readonly names: readonly string[];
  /** False: there are more names than the limit. */
  readonly whole: boolean;
}

export interface LinkSources {
  /** The absolute path of the project's folder, without links. */
  readonly root: BytePath;
  /** Targets of the project's links, by path; an agent has no influence on them except by earlier applies. */
  readonly links: ReadonlyMap<BytePath, BytePath>;
  /** Targets of links that the changes add or replace. */
  readonly added: ReadonlyMap<BytePath, BytePath>;
  /** All changed paths. */
  readonly changed: ReadonlySet<BytePath>;
  /** Paths, relative to the project, that git settings name, each with the name under which git obeys it. */
  readonly named: readonly (readonly [name: string, path: BytePath])[];
  /** The real path of an absolute path outside of the project; null: there is none. */
  outside(path: BytePath): BytePath | null;
  /** False: not all links were found. */
  readonly whole: boolean;
}

/** The kernel follows at most this many links; a circle of links leads nowhere. */
const maxLinks = 40;
const maxNames = 500;
const maxNameLength = 4096;

interface Way {
  /** Where the link leads, in the project; null: outside, or nowhere. */
  readonly end: BytePath | null;
  /** Every path of the project that is passed while the link is resolved. */
  readonly passed: ReadonlySet<BytePath>;
}

export class LinkNames {
  readonly #sources: LinkSources;
  readonly #root: readonly string[];
  /** Plain names of links, by the plain path they lead to. */
  readonly #ending = new Map<string, Set<string>>();
  /** Plain names of links, by the changed paths that they pass, because a change there decides where they lead. */
  readonly #passing = new Map<string, Set<string>>();

  constructor(sources: LinkSources) {
    this.#sources = sources;
    this.#root = partsOf(sources.root);
    const { links, added, named } = sources;
    const then = new Map([...links, ...added]);
    for (const path of links.keys()) this.#add(path, this.#follow(path, links, true));
    // Links that the changes add may make links of the project lead elsewhere.
    if (added.size > 0) for (const path of then.keys()) this.#add(path, this.#follow(path, then, !added.has(path)));
    for (const [name, path] of named) this.#add(name, this.#follow(path, then, true));
  }

  namesOf(plain: string): Names {
    if (this.#ending.size === 0 && this.#passing.size === 0) return { names: [plain], whole: this.#sources.whole };
    const found = new Map<string, readonly string[]>([[plain, []]]);
    for (const [name, used] of found) {
      for (const [other, link] of this.#others(name)) {
        // Following a link a second time yields the same names again.
        if (found.has(other) || used.includes(link) || other.length > maxNameLength) continue;
        if (found.size >= maxNames) return { names: [...found.keys()], whole: false };
        found.set(other, [...used, link]);
      }
    }
    return { names: [...found.keys()], whole: this.#sources.whole };
  }

  *#others(name: string): Generator<readonly [name: string, link: string]> {
    for (const folder of prefixesOf(name)) {
      const rest = folder === '' ? `/${name}` : name.slice(folder.length);
      for (const link of this.#ending.get(folder) ?? []) yield [link + rest, link];
    }
    for (const link of this.#passing.get(name) ?? []) yield [link, link];
  }

  #add(path: BytePath, { end, passed }: Way): void {
    const link = plainName(path);
    if (end !== null) put(this.#ending, plainName(end), link);
    const { changed } = this.#sources;
    for (const one of passed)
      if (one !== path && one !== end && changed.has(one)) put(this.#passing, plainName(one), link);
  }

  #follow(path: BytePath, links: ReadonlyMap<BytePath, BytePath>, trusted: boolean): Way {
    const passed = new Set<BytePath>();
    const rest = partsOf(path).reverse();
    let at = [...this.#root];
    for (let followed = 0; rest.length > 0; ) {
      const part = rest.pop()!;
      if (part === '..') at.pop();
      else at.push(part);
      const here = this.#inside(at);
      if (here !== null) passed.add(here);
      const target = here === null ? undefined : links.get(here);
      if (target === undefined) continue;
      if (++followed > maxLinks || target.length > maxNameLength) return { end: null, passed };
      if (target.startsWith('/')) at = [];
      else at.pop();
      rest.push(...partsOf(target).reverse());
    }
    const end = this.#inside(at);
    return { end: end ?? (trusted ? this.#backInside(at) : null), passed };
  }

  /** Null: it is not in the project. */
  #inside(at: readonly string[]): BytePath | null {
    const isBelow = at.length >= this.#root.length && this.#root.every((part, n) => part === at[n]);
    return isBelow ? at.slice(this.#root.length).join('/') : null;
  }

  #backInside(at: readonly string[]): BytePath | null {
    const real = this.#sources.outside(`/${at.join('/')}`);
    return real === null ? null : this.#inside(partsOf(real));
  }
}

function partsOf(path: BytePath): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

/** The name itself, the folders above it, and the empty one. */
function prefixesOf(name: string): string[] {
  const parts = name.split('/');
  return [...parts.map((_, n) => parts.slice(0, parts.length - n).join('/')), ''];
}

function put(map: Map<string, Set<string>>, key: string, value: string): void {
  const values = map.get(key);
  if (values) values.add(value);
  else map.set(key, new Set([value]));
}
