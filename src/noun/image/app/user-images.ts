/** The images of an installation for the API: the owner makes them, and every user can use listed ones. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DockerImages } from '../../../kernel/engine/docker/image/images.ts';
import type { Home } from '../../../kernel/home/home.ts';
import type { Store } from '../../../kernel/store/store.ts';
import { Fault } from '../../../model/fault.ts';
import type { Limits } from '../../../model/limits.ts';
import { printable } from '../../../model/name.ts';
import type { Actor } from '../../../model/user.ts';
import { requireOwner } from '../../../model/user.ts';
import { prepareTools, toolsName } from '../../sandbox/tools/tools.ts';
import { AllowList, type ListedImage } from '../allow.ts';
import type { BuildRequest, BuiltView, ImageView } from '../api.ts';
import { defaultParent } from '../base.ts';
import type { Extra } from '../context/context.ts';
import { hostParent } from '../host/host.ts';
import type { AllowedImage, BuildEvent, FoundImage, ImageEngine, ImageRecords, UsableImages } from '../image.ts';
import { Images } from '../images.ts';
import { type Image, withTag } from '../model.ts';
import type { RootImage } from '../root/root.ts';
import type { Detect } from '../source.ts';

export interface UserImageParts {
  readonly images: Images;
  readonly allowed: AllowList;
  readonly records: ImageRecords;
  readonly engine: Pick<ImageEngine, 'find' | 'remove'>;
  /** Names of sandboxes that are made of the image with that id. */
  readonly usersOf: (id: string) => readonly string[];
  /** The real folder of a project that this user may give to others. */
  readonly projectFolder: (path: string) => string;
  /** Refuses text that carries a secret. */
  readonly refuseText: (where: string, text: string) => void;
}

export type Say = (event: BuildEvent) => Promise<void>;

export class UserImages implements UsableImages {
  readonly #parts: UserImageParts;
  readonly #actor: Actor;

  constructor(actor: Actor, parts: UserImageParts) {
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

  /** An image that sandboxes may be made of and that the engine has; null: none. */
  async someReady(): Promise<string | null> {
    const found = (await this.list()).find(({ state }) => state === 'ready');
    return found ? (found.id ?? found.name) : null;
  }

  /** Checks the request at once; the function that it returns builds the image. */
  order({ project, hub = false, offline }: BuildRequest): (say: Say, signal: AbortSignal) => Promise<BuiltView> {
    requireOwner(this.#actor);
    if (hub && project !== undefined) throw new Fault('invalid', 'project: the image of the hub is for all projects');
    const { images, projectFolder, engine, refuseText: check } = this.#parts;
    const wish = { project: project === undefined ? null : projectFolder(project), hub, network: !offline };
    return async (say, signal) => {
      const { image, built, notes } = await images.build({ ...wish, check, say, signal });
      return { image: madeView(image, await engine.find(image.id)), built, notes: [...notes] };
    };
  }

  /**
   * Removes an image that was made here. An image that the owner only listed was made elsewhere and is removed there.
   */
  async remove(name: string): Promise<ImageView> {
    requireOwner(this.#actor);
    const { records, engine, usersOf } = this.#parts;
    const image = records.find(name) ?? records.find(withTag(name));
    if (image === null || image.source === 'listed') throw notMade(name, image);
    const users = usersOf(image.id);
    if (users.length > 0) throw inUse(image.name, users);
    const view = madeView(image, await engine.find(image.id));
    await engine.remove(image.id);
    records.remove(image.name);
    return { ...view, state: 'missing' };
  }

  prove(reference: string): Promise<void> {
    return this.#parts.allowed.prove(reference, this.#actor.isOwner);
  }

  check(reference: string): void {
    this.#parts.allowed.check(reference, this.#actor.isOwner);
  }

  resolve(reference: string): Promise<AllowedImage> {
    return this.#parts.allowed.resolve(reference, this.#actor.isOwner);
  }
}

function notMade(name: string, image: Image | null): Fault {
  if (image === null) {
    return new Fault('not_found', `no image ${printable(name)} was made here`, {
      hint: 'See: carrel image ls',
    });
  }
  return new Fault('conflict', `${image.name} was not made here`, {
    hint: `Take it out of images in config.yaml; the engine removes it with: docker rmi ${image.name}`,
  });
}

function inUse(name: string, users: readonly string[]): Fault {
  const shown = users.slice(0, 5).join(', ');
  return new Fault(
    'conflict',
    `${name} is used by ${counted(users.length)}: ${shown}${users.length > 5 ? ', …' : ''}`,
    {
      hint: `Remove them first: carrel rm ${users[0]}`,
    },
  );
}

const counted = (count: number) => (count === 1 ? 'a sandbox' : `${count} sandboxes`);

function madeView(image: Image, found: FoundImage | null): ImageView {
  return { ...image, state: found === null ? 'missing' : 'ready', sizeBytes: found?.sizeBytes ?? null };
}

function listedView({ name, digest, found, pinned }: ListedImage, record: Image | null): ImageView {
  const id = digest ?? pinned;
  const state =
    found === null ? 'missing' : pinned !== null && digest === null && pinned !== found.id ? 'moved' : 'ready';
  const at = record?.at ?? null;
  return { name, source: 'listed', id, project: null, checksum: null, at, state, sizeBytes: found?.sizeBytes ?? null };
}

export function imageRecords(store: Store, now: () => string): ImageRecords {
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
    remove: (name) => {
      const row = find(name);
      if (row) store.remove(row, { at: now(), type: 'image.removed', subject: name, data: { name, id: row.value.id } });
    },
  };
}

function rowId(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 16);
}

/** What sandboxes find in /opt/carrel/bin: the adapter, and an init. */
function toolsOf({ tools, engine }: Pick<Home, 'tools' | 'engine'>): Extra[] {
  prepareTools(tools);
  const folder = join(tools, toolsName());
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const paths = names.map((path) => ({ path, at: join(folder, path) })).filter(({ at }) => statSync(at).isFile());
  return [...paths, { path: 'init', at: join(engine, 'bin/init') }].map(({ path, at }) => {
    return { path, mode: statSync(at).mode & 0o777, content: readFileSync(at) };
  });
}

/** The names of sandboxes that were made of an image and may be started from it again. */
function usersOf(store: Store): (id: string) => string[] {
  return (id) => store.list('sandbox').flatMap(({ name, value }) => (value.spec.imageId === id ? [name] : []));
}

/** The settings that decide about images. */
export interface ImageConfig {
  readonly dockerSocket: string | null;
  readonly parentImage: string | null;
  readonly images: readonly string[];
  readonly limits: Limits;
}

export function openImages(
  home: Home,
  config: ImageConfig,
  store: Store,
  detect: Detect,
  hub: () => Promise<RootImage>,
  now: () => string,
): Omit<UserImageParts, 'projectFolder' | 'refuseText'> {
  const engine = new DockerImages(config.dockerSocket ?? undefined);
  const records = imageRecords(store, now);
  const users = usersOf(store);
  const images = new Images({
    engine,
    records,
    parent: () => config.parentImage ?? defaultParent,
    host: () => hostParent(),
    hub,
    tools: () => toolsOf(home),
    detect,
    installation: home.installation,
    get limits() {
      return config.limits;
    },
    isNeeded: (id) => users(id).length > 0,
    now,
  });
  const allowed = new AllowList({ engine, records, list: () => config.images, now });
  return { images, allowed, records, engine, usersOf: users };
}
