/** Builds images, one at a time: the base, those of projects on it, and that of the hub. */
import { createHash } from 'node:crypto';
import { Anchor } from '../../lib/file/anchor.ts';
import { crashPoint } from '../../lib/flow/crash-point.ts';
import { Exclusive } from '../../lib/flow/exclusive.ts';
import { Fault, isFault } from '../../model/fault.ts';
import type { Limits } from '../../model/limits.ts';
import { baseNames, baseSteps, hostParentName, toolFiles } from './base.ts';
import { collect } from './context/collect.ts';
import type { ContextEntry, Extra } from './context/context.ts';
import { checksumOf, pack } from './context/pack.ts';
import type { BuildStep } from './dockerfile/dockerfile.ts';
import { recipeFrom } from './dockerfile/recipe.ts';
import type { HostParent } from './host/host.ts';
import type { BuildEvent, BuildMessage, Built, FoundImage, ImageEngine, ImageRecords } from './image.ts';
import { baseImageName, type Image, imagePrefix, ownImageTag, projectImageName, withTag } from './model.ts';
import { type BuildOf, BuildProgress } from './progress.ts';
import { importRoot } from './root/import-root.ts';
import type { RootImage } from './root/root.ts';
import { slugOf, withHash } from './slug.ts';
import { type Detect, sourceOf } from './source.ts';

export interface ImageParts {
  readonly engine: ImageEngine;
  readonly records: ImageRecords;
  /** The parent of the base. */
  readonly parent: () => string;
  /** The packages of this machine as a parent. */
  readonly host: () => HostParent;
  /** The image of the hub. */
  readonly hub: () => Promise<RootImage>;
  /** The files for /opt/carrel/bin. */
  readonly tools: () => readonly Extra[];
  readonly detect: Detect;
  readonly installation: string;
  readonly limits: Limits;
  /** Whether a sandbox was made of the image and may start again. */
  readonly isNeeded: (id: string) => boolean;
  readonly now: () => string;
}

export interface ImageToBuild {
  /** The real path of the project's folder; null: only the base is built. */
  readonly project: string | null;
  /** True: the image of the hub is built instead. */
  readonly hub: boolean;
  readonly network: boolean;
  /** Refuses a Dockerfile with content that no image may have, such as a secret. */
  readonly check: (file: string, text: string) => void;
  readonly say: (event: BuildEvent) => Promise<void>;
  readonly signal: AbortSignal;
}

/** All inputs of one image. */
interface Making {
  readonly name: string;
  readonly tag: string;
  readonly source: 'base' | 'project';
  readonly project: string | null;
  readonly of: BuildOf;
  /** The first lines of the Dockerfile. */
  readonly head: string;
  readonly root: Anchor | null;
  readonly entries: readonly ContextEntry[];
  readonly extras: readonly Extra[];
  readonly notes: readonly string[];
}

const labels = { home: 'carrel.image.home', checksum: 'carrel.image.checksum' } as const;
/** Increase it when the same input must give another image. */
const formVersion = 1;
const turn = 'build';

export class Images {
  readonly #parts: ImageParts;
  readonly #turns = new Exclusive();

  constructor(parts: ImageParts) {
    this.#parts = parts;
  }

  async build(wish: ImageToBuild): Promise<Built> {
    await this.#parts.engine.requireBuilder();
    if (this.#turns.isBusy(turn)) await wish.say({ kind: 'phase', text: 'waiting for another build' });
    return this.#turns.run(turn, async () => {
      stopIf(wish.signal);
      if (wish.hub) return this.#hub(wish);
      const base = await this.#base(wish);
      const built = wish.project === null ? base : await this.#project(wish.project, base, wish);
      await this.#sweep();
      return built;
    });
  }

  async #hub(wish: ImageToBuild): Promise<Built> {
    const { installation, hub } = this.#parts;
    const labelsOf = (checksum: string) => ({ [labels.home]: installation, [labels.checksum]: checksum });
    const built = await importRoot(await hub(), { ...this.#parts, labels: labelsOf }, wish);
    await this.#sweep();
    return built;
  }

  async #base(wish: ImageToBuild): Promise<Built> {
    const { installation } = this.#parts;
    const parent = this.#parts.parent();
    const { id } = await this.#parent(parent, wish);
    const file = `the base on ${parent}`;
    const hint = 'The parent in config.yaml (docker.parent) has to have apt-get and the network, or what is installed.';
    return this.#make(
      {
        name: baseImageName,
        tag: ownImageTag(baseImageName, installation),
        source: 'base',
        project: null,
        of: { file, steps: baseSteps(parent, id), hint },
        head: '',
        root: null,
        entries: [],
        extras: toolFiles(this.#parts.tools()),
        notes: [],
      },
      wish,
    );
  }

  async #parent(parent: string, wish: ImageToBuild): Promise<FoundImage> {
    if (parent === hostParentName) return this.#hostParent(wish);
    return (await this.#parts.engine.find(withTag(parent))) ?? this.#pull(parent, wish);
  }

  get #hostTag(): string {
    return `${imagePrefix}:host-${this.#parts.installation}`;
  }

  /** The parent made of the packages of this machine, which is imported again when these have changed. */
  async #hostParent({ say, signal }: ImageToBuild): Promise<FoundImage> {
    const { engine, installation, host } = this.#parts;
    const { checksum, archive } = host();
    const tag = this.#hostTag;
    const known = await engine.find(tag);
    if (known !== null && this.#isOwnBuild(known, checksum)) return known;
    await say({ kind: 'phase', text: 'collecting the packages of this machine' });
    const order = { archive: archive(), tag, labels: { [labels.home]: installation, [labels.checksum]: checksum } };
    for await (const message of engine.import(order, signal)) {
      if (message.kind === 'failure')
        throw new Fault('unavailable', `the engine refuses the packages of this machine: ${message.message}`);
    }
    const found = await engine.find(tag);
    if (found !== null && this.#isOwnBuild(found, checksum)) return found;
    throw new Fault('unavailable', 'the engine did not take the packages of this machine');
  }

  async #pull(parent: string, { say, signal, network }: ImageToBuild): Promise<FoundImage> {
    const { engine } = this.#parts;
    await say({ kind: 'phase', text: `fetching ${parent}` });
    try {
      if (!network) throw new Fault('unavailable', 'the build has no network');
      for await (const message of engine.pull(withTag(parent), signal)) {
        if (message.kind === 'failure') throw new Fault('unavailable', message.message);
        if (message.kind === 'output') await say({ kind: 'output', text: message.text.trimEnd() });
      }
      const found = await engine.find(withTag(parent));
      if (found !== null) return found;
      throw new Fault('unavailable', 'the engine does not have it after the pull');
    } catch (error) {
      if (!isFault(error, 'unavailable') && !isFault(error, 'not_found')) throw error;
      throw new Fault('unavailable', `the parent of all images, ${parent}, cannot be fetched: ${error.message}`, {
        cause: error,
        hint: 'Load or import it (docker load, docker import), name another in config.yaml, docker: {parent: NAME}, or have it made of the packages of this machine: docker: {parent: host}',
      });
    }
  }

  async #project(project: string, base: Built, wish: ImageToBuild): Promise<Built> {
    const root = Anchor.reach(project);
    try {
      const source = await sourceOf(root, project, this.#parts.detect);
      if (source === null) return { ...base, notes: ['the project asks for nothing that the base has not'] };
      const { dockerfile, ignore, hint, notes } = source;
      const recipe = recipeFrom(dockerfile, { names: baseNames, id: base.image.id });
      const found = await collect(root, { file: recipe.file, files: recipe.files, ignore });
      const entries = found.filter(({ path }) => path !== ignoreFile);
      const name = this.#nameFor(project, root);
      const of = { file: recipe.file, steps: [...recipe.steps, userStep], hint };
      const tag = ownImageTag(name, this.#parts.installation);
      const [kind, head, extras] = ['project' as const, recipe.head, []];
      return await this.#make({ name, tag, source: kind, project, of, head, root, entries, extras, notes }, wish);
    } finally {
      root.close();
    }
  }

  /** A name that belongs to another folder's image is not reused, whatever the remote of this project says. */
  #nameFor(project: string, root: Anchor): string {
    const slug = slugOf(project, root);
    const name = projectImageName(slug);
    const holder = this.#parts.records.find(name);
    return holder === null || holder.project === project ? name : projectImageName(withHash(slug, project));
  }

  async #make(making: Making, wish: ImageToBuild): Promise<Built> {
    const { records, engine } = this.#parts;
    const inputs = await checksumOf(making.root, making.entries);
    const checksum = checksumFor(making, inputs);
    const known = records.find(making.name);
    if (known?.checksum === checksum && (await engine.find(known.id)) !== null) {
      return { image: known, built: false, notes: making.notes };
    }
    // After a crash the image may be built but not recorded.
    const made = await engine.find(making.tag);
    const built = made === null || !this.#isOwnBuild(made, checksum);
    const { id } = built ? await this.#run(making, { inputs, checksum }, wish) : made;
    crashPoint('image:built');
    const { name, source, project } = making;
    const image: Image = { name, id, source, project, checksum, at: this.#parts.now() };
    records.save(image);
    return { image, built, notes: making.notes };
  }

  #isOwnBuild({ labels: found }: FoundImage, checksum: string): boolean {
    return found[labels.home] === this.#parts.installation && found[labels.checksum] === checksum;
  }

  async #run(making: Making, sums: { inputs: string; checksum: string }, wish: ImageToBuild): Promise<FoundImage> {
    const { engine, limits, installation } = this.#parts;
    const label = `LABEL ${labels.home}=${installation} ${labels.checksum}=${sums.checksum}`;
    wish.check(making.of.file, making.of.steps.map(({ text }) => text).join('\n'));
    const steps = [...making.of.steps, { title: 'LABEL', line: 0, text: label }];
    const dockerfile = `.carrel-${sums.checksum}`;
    const extras = [...contextFiles(dockerfile, making.head, steps), ...making.extras];
    await wish.say({ kind: 'phase', text: `building ${making.name}` });
    const order = {
      archive: pack(making.root, making.entries, extras, sums.inputs),
      dockerfile,
      tag: making.tag,
      network: wish.network,
      limits,
    };
    const id = await follow(engine.build(order, wish.signal), new BuildProgress({ ...making.of, steps }), wish.say);
    const found = await engine.find(id ?? making.tag);
    if (found !== null && this.#isOwnBuild(found, sums.checksum)) return found;
    throw new Fault('unavailable', `the engine did not build ${making.name} as ordered`);
  }

  /** Removes earlier versions that no sandbox uses, and images that failed builds left. */
  async #sweep(): Promise<void> {
    const { engine, records, isNeeded, installation } = this.#parts;
    const parent = await engine.find(this.#hostTag).catch(unlessFault);
    const kept = new Set([...records.list().map(({ id }) => id), parent?.id]);
    const all = await engine.labelled(`${labels.home}=${installation}`).catch(unlessFault);
    for (const { id } of all?.filter((image) => !kept.has(image.id) && !isNeeded(image.id)) ?? []) {
      await engine.remove(id).catch(unlessFault);
    }
  }
}

/** The image is in use, or the engine went away, ignoring: the next build sweeps again. */
function unlessFault(error: unknown): undefined {
  if (!isFault(error)) throw error;
}

/** A container that is started without Carrel does not run as root either. */
const userStep: BuildStep = { title: 'USER agent', line: 0, text: 'USER 1000:1000' };

function stopIf(signal: AbortSignal): void {
  if (signal.aborted) throw new Fault('cancelled', 'the build was stopped');
}

async function follow(
  messages: AsyncIterable<BuildMessage>,
  progress: BuildProgress,
  say: ImageToBuild['say'],
): Promise<string | null> {
  let id: string | null = null;
  for await (const message of messages) {
    if (message.kind === 'image') id = message.id;
    for (const event of progress.take(message)) await say(event);
  }
  return id;
}

/** The Dockerfile, and an ignore file that names both, so that the engine copies neither of them into the image. */
function contextFiles(dockerfile: string, head: string, steps: readonly BuildStep[]): Extra[] {
  const text = `${head}${steps.map((step) => step.text).join('\n')}\n`;
  return [
    { path: dockerfile, mode: 0o644, content: Buffer.from(text) },
    { path: ignoreFile, mode: 0o644, content: Buffer.from(`${dockerfile}\n${ignoreFile}\n`) },
  ];
}

const ignoreFile = '.dockerignore';

function checksumFor({ of, head, extras }: Making, inputs: string): string {
  const hash = createHash('sha256');
  hash.update(JSON.stringify([formVersion, head, of.steps.map(({ text }) => text), inputs]));
  for (const { path, content } of extras) hash.update(JSON.stringify([path, content.length])).update(content);
  return hash.digest('hex');
}
