/**
 * The images that sandboxes may be made of: those on the owner's list, and, for the owner, those that were built here.
 * Each is used by its id.
 */
import { Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';
import type { AllowedImage, FoundImage, ImageEngine, ImageRecords } from './image.ts';
import { type Image, isOwnImageName, withTag } from './model.ts';

export interface AllowParts {
  readonly engine: Pick<ImageEngine, 'find' | 'refusal'>;
  readonly records: ImageRecords;
  /** The entries that the owner wrote: `NAME`, or `NAME@sha256:…` for exactly that content. */
  readonly list: () => readonly string[];
  readonly now: () => string;
}

/** An entry of the list, and the image that it stands for. */
export interface ListedImage {
  readonly name: string;
  /** The digest that the owner wrote. */
  readonly digest: string | null;
  readonly found: FoundImage | null;
  /** The id of the image that the name stood for when it was first used. */
  readonly pinned: string | null;
}

/** `isNew`: the id of the name is not recorded yet. */
interface Proven {
  readonly allowed: AllowedImage;
  readonly isNew: boolean;
}

export class AllowList {
  readonly #parts: AllowParts;

  constructor(parts: AllowParts) {
    this.#parts = parts;
  }

  /** `isOwner`: images built here may be used as well. */
  async resolve(reference: string, isOwner: boolean): Promise<AllowedImage> {
    const { allowed, isNew } = await this.#prove(reference, isOwner);
    if (isNew) this.#pin(allowed.name, allowed.id);
    return allowed;
  }

  /** Refuses what `resolve` would refuse, and records nothing. */
  async prove(reference: string, isOwner: boolean): Promise<void> {
    await this.#prove(reference, isOwner);
  }

  async #prove(reference: string, isOwner: boolean): Promise<Proven> {
    this.check(reference, isOwner);
    const made = this.#made(reference);
    return made === null ? this.#useListed(this.#entryFor(reference)!) : this.#useMade(made);
  }

  /** Refuses images that are not allowed, without asking the engine. */
  check(reference: string, isOwner: boolean): void {
    if (this.#entryFor(reference) !== null) return;
    if (!isOwner || this.#made(reference) === null) throw notListed(reference);
  }

  /** Asks the engine about everything on the list. */
  async listed(): Promise<ListedImage[]> {
    const entries = this.#parts.list().filter((entry) => this.#made(entryOf(entry).name) === null);
    return Promise.all(entries.map((entry) => this.#look(entry)));
  }

  /** Whether other users may use an image that was built here. */
  isShared(name: string): boolean {
    return this.#entryFor(name) !== null;
  }

  #entryFor(reference: string): string | null {
    const list = this.#parts.list();
    if (list.includes(reference)) return reference;
    return list.find((entry) => withTag(entryOf(entry).name) === withTag(reference)) ?? null;
  }

  #made(name: string): Image | null {
    if (!isOwnImageName(name)) return null;
    const image = this.#parts.records.find(name);
    return image?.source === 'listed' ? null : image;
  }

  async #useMade({ name, id }: Image): Promise<Proven> {
    const found = await this.#parts.engine.find(id);
    if (found !== null) return { allowed: await this.#usable(name, found), isNew: false };
    throw new Fault('not_found', `the engine no longer has ${name}`, { hint: 'Build it again: carrel image build' });
  }

  async #useListed(entry: string): Promise<Proven> {
    const { name, digest, found, pinned } = await this.#look(entry);
    if (found === null) {
      throw new Fault('not_found', `the engine has no image ${entry}`, {
        hint: `Fetch it first: docker pull ${entry}`,
      });
    }
    if (digest !== null && found.id !== digest && !found.digests.includes(digest)) throw moved(name, digest, found.id);
    if (digest === null && pinned !== null && pinned !== found.id) throw moved(name, pinned, found.id);
    return { allowed: await this.#usable(name, found), isNew: pinned !== found.id };
  }

  /** Refuses an unusable image here, because a sandbox of it would end at once without a message. */
  async #usable(name: string, found: FoundImage): Promise<AllowedImage> {
    const reason = await this.#parts.engine.refusal(found);
    if (reason === null) return { name, id: found.id, path: found.path };
    throw new Fault('unsupported', `no sandbox can be made of ${name}: ${reason}`, {
      hint: 'Use an image of a whole system for this machine, such as debian or alpine, or make one: carrel image build',
    });
  }

  async #look(entry: string): Promise<ListedImage> {
    const { name, digest } = entryOf(entry);
    const { engine, records } = this.#parts;
    // Registries and the engine have different digests for the same content.
    const found = (await engine.find(entry)) ?? (digest === null ? null : await engine.find(digest));
    return { name, digest, found, pinned: records.find(withTag(name))?.id ?? null };
  }

  #pin(name: string, id: string): void {
    const { records, now } = this.#parts;
    records.save({ name: withTag(name), id, source: 'listed', project: null, checksum: null, at: now() });
  }
}

function entryOf(entry: string): { name: string; digest: string | null } {
  const [name, digest] = entry.split('@', 2);
  return { name: name!, digest: digest ?? null };
}

function notListed(reference: string): Fault {
  return new Fault('denied', `${printable(reference)} is not among the images of this installation`, {
    hint: 'Its owner adds it to `images` in config.yaml, or builds one: carrel image build PROJECT',
  });
}

function moved(name: string, was: string, is: string): Fault {
  return new Fault('denied', `${name} was ${was} when it was allowed, and is ${is} now`, {
    hint: `If that is meant, the owner of the installation allows it in config.yaml: images: [${name}@${is}]`,
    data: { name, was, is },
  });
}
