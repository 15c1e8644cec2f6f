/** The images of an installation, as the API has them: the owner makes them, and everybody uses what is listed. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildRequest, BuiltView, ImageView } from '../api/routes.ts';
import type { Allowed, AllowList, Listed } from '../image/allow.ts';
import type { BuildEvent, FoundImage, ImageEngine, ImageRecords } from '../image/image.ts';
import type { Images } from '../image/images.ts';
import { type Image, withTag } from '../model/image.ts';
import type { Actor } from '../model/user.ts';
import type { Store } from '../store/store.ts';
import { requireOwner } from './scope.ts';

export interface ImageDeskParts {
  readonly images: Images;
  readonly allowed: AllowList;
  readonly records: ImageRecords;
  readonly engine: Pick<ImageEngine, 'find'>;
  /** The real folder of a project that this user may give to others. */
  readonly projectFolder: (path: string) => string;
}

export type Say = (event: BuildEvent) => Promise<void>;

export class ImageDesk {
  readonly #parts: ImageDeskParts;
  readonly #actor: Actor;

  constructor(actor: Actor, parts: ImageDeskParts) {
    this.#actor = actor;
    this.#parts = parts;
  }

  async list(): Promise<ImageView[]> {
    const { allowed, records, engine } = this.#parts;
    const made = records.list().filter(({ source }) => source !== 'listed');
    const mine = made.filter(({ name }) => this.#actor.isOwner || allowed.isShared(name));
    const views = mine.map(async (image) => madeView(image, await engine.find(image.id)));
    const listed = (await allowed.listed()).map((one) => listedView(one, records.find(withTag(one.name))));
    return [...(await Promise.all(views)), ...listed];
  }

  /** Checked before anything is done; what it returns does it. */
  order({ project, offline }: BuildRequest): (say: Say, signal: AbortSignal) => Promise<BuiltView> {
    requireOwner(this.#actor);
    const { images, projectFolder, engine } = this.#parts;
    const wish = { project: project === undefined ? null : projectFolder(project), network: !offline };
    return async (say, signal) => {
      const { image, built, notes } = await images.build({ ...wish, say, signal });
      return { image: madeView(image, await engine.find(image.id)), built, notes: [...notes] };
    };
  }

  check(reference: string): void {
    this.#parts.allowed.check(reference, this.#actor.isOwner);
  }

  resolve(reference: string): Promise<Allowed> {
    return this.#parts.allowed.resolve(reference, this.#actor.isOwner);
  }
}

function madeView(image: Image, found: FoundImage | null): ImageView {
  return { ...image, state: found === null ? 'missing' : 'ready', sizeBytes: found?.sizeBytes ?? null };
}

function listedView({ name, digest, found, pinned }: Listed, record: Image | null): ImageView {
  const id = digest ?? pinned;
  const state =
    found === null ? 'missing' : pinned !== null && digest === null && pinned !== found.id ? 'moved' : 'ready';
  const at = record?.at ?? null;
  return { name, source: 'listed', id, project: null, checksum: null, at, state, sizeBytes: found?.sizeBytes ?? null };
}

export function imageRecords(store: Store): ImageRecords {
  const find = (name: string) => store.find('image', '', name);
  return {
    find: (name) => find(name)?.value ?? null,
    list: () => store.list('image').map(({ value }) => value),
    save: (image) => {
      const { name, id, at, source } = image;
      const row = find(name);
      const type = source === 'listed' ? 'image.pinned' : 'image.built';
      const event = { at, type, subject: name, data: { name, id } };
      if (row) store.update(row, image, event);
      else store.insert({ kind: 'image', id: rowId(name), owner: '', name, value: image }, event);
    },
  };
}

function rowId(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 16);
}

/** Everything that sandboxes of the embedded engine have in /opt/carrel/bin. */
export function toolsIn(folder: string): { name: string; content: Buffer }[] {
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const names = files.map(({ name }) => name).filter((name) => !name.endsWith('.new'));
  return names.sort().map((name) => ({ name, content: readFileSync(join(folder, name)) }));
}

/** What sandboxes were made of, and may be started from again. */
export function isNeeded(store: Store): (id: string) => boolean {
  return (id) => store.list('sandbox').some(({ value }) => value.spec.imageId === id);
}
