import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Fault, isFault } from '../../model/fault.ts';
import { defaultLimits } from '../../model/limits.ts';
import type { Extra } from './context/context.ts';
import { detectAt } from './detect.ts';
import { FakeImages } from './fake.ts';
import type { BuildEvent } from './image.ts';
import { Images } from './images.ts';
import { baseImageName, type Image } from './model.ts';

let above: string;
let project: string;
let engine: FakeImages;
let saved: Map<string, Image>;
let tools: Extra[];
let needed: Set<string>;
let images: Images;
let events: BuildEvent[];
let program = 'first';

beforeEach(() => {
  above = mkdtempSync(join(tmpdir(), 'carrel-images-'));
  project = folder('shop', 'FROM carrel-sandbox:base\nCOPY a /a\nRUN echo hi\n');
  engine = new FakeImages();
  engine.put('parent:latest', 'parent');
  [saved, needed, events] = [new Map(), new Set(), []];
  tools = [{ path: 'init', mode: 0o755, content: Buffer.from('a tool') }];
  images = open();
});
afterEach(() => rmSync(above, { recursive: true }));

function folder(name: string, dockerfile: string | null): string {
  const path = join(above, name);
  mkdirSync(path);
  put(join(path, 'a'), 'content');
  if (dockerfile !== null) put(join(path, '.carrel/Dockerfile.sandbox'), dockerfile);
  return path;
}

function put(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

function open(parent = 'parent'): Images {
  const records = {
    find: (name: string) => saved.get(name) ?? null,
    list: () => [...saved.values()],
    save: (image: Image) => void saved.set(image.name, image),
    remove: (name: string) => void saved.delete(name),
  };
  return new Images({
    engine,
    records,
    parent: () => parent,
    host: () => ({
      checksum: 'c',
      archive: async function* () {
        yield Buffer.from('packages');
      },
    }),
    hub: async () => ({
      ...{ name: 'carrel-hub:latest', emptyFolders: ['tmp'], settings: ['USER 1000:1000'] },
      members: [{ path: 'program', mode: 0o755, text: program }],
    }),
    tools: () => tools,
    detect: async (path, base) => detectAt(path, base),
    installation: 'i1',
    limits: defaultLimits,
    isNeeded: (id) => needed.has(id),
    now: () => 'now',
  });
}

function build(path: string | null = project, signal = new AbortController().signal, network = true) {
  const say = async (event: BuildEvent) => void events.push(event);
  const check = (_file: string, text: string) => {
    if (text.includes('hunter2')) throw new Fault('denied', 'a secret');
  };
  return images.build({ project: path, hub: false, network, check, say, signal });
}

const refusal = async (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => (isFault(error) ? error : null),
  );

describe('an image', () => {
  it('is built once, and again only when one of its inputs changed', async () => {
    const first = await build();
    expect(first).toMatchObject({ built: true, image: { source: 'project', project, at: 'now' } });
    expect(engine.builds).toHaveLength(2);
    expect(await build()).toMatchObject({ built: false, image: { id: first.image.id } });
    put(join(project, 'other'), 'not copied');
    put(join(project, '.carrel/Dockerfile.sandbox'), '# a comment\nFROM carrel-sandbox:base\nCOPY a /a\nRUN echo hi\n');
    expect((await build()).built).toBe(false);
    expect(engine.builds).toHaveLength(2);
    const changes = [
      () => put(join(project, 'a'), 'other content'),
      () => put(join(project, '.carrel/Dockerfile.sandbox'), 'FROM carrel-sandbox:base\nCOPY a /a\nRUN echo ho\n'),
      () => tools.splice(0, 1, { path: 'init', mode: 0o755, content: Buffer.from('another') }),
      () => engine.put('parent:latest', 'another parent'),
    ];
    for (const change of changes) {
      change();
      const [before, { built }] = [engine.builds.length, await build()];
      expect([built, engine.builds.length > before]).toEqual([true, true]);
      expect((await build()).built).toBe(false);
    }
  });

  it('is refused before any work if the engine cannot build', async () => {
    engine.noBuilder = new Fault('unsupported', 'no builder');
    await engine.remove((await engine.find('parent:latest'))!.id);
    expect((await refusal(build(project, undefined, false)))?.code).toBe('unsupported');
    expect(events).toEqual([]);
  });

  it('is built again when the engine no longer has it', async () => {
    const { image } = await build();
    await engine.remove(image.id);
    expect((await build()).built).toBe(true);
  });

  it('that was built but not recorded is not built again', async () => {
    const { image } = await build();
    saved.clear();
    expect(await build()).toMatchObject({ built: false, image: { id: image.id } });
    expect(saved.get(image.name)?.id).toBe(image.id);
    expect(engine.builds).toHaveLength(2);
  });

  it('is not recognised by its name alone', async () => {
    const { image } = await build();
    saved.clear();
    const { tag } = engine.builds.at(-1)!.order;
    engine.put(tag, 'evil', { 'carrel.image.home': 'i2', 'carrel.image.checksum': image.checksum! });
    expect(await build()).toMatchObject({ built: true });
  });

  it('is built from checked input: the base by id, the user and labels of Carrel last, and no files of Carrel in what is copied', async () => {
    const { image } = await build();
    const { dockerfile, files, order } = engine.builds.at(-1)!;
    const baseId = saved.get(baseImageName)!.id;
    const label = `LABEL carrel.image.home=i1 carrel.image.checksum=${image.checksum}`;
    expect(dockerfile).toEqual([`FROM ${baseId}`, 'COPY a /a', 'RUN echo hi', 'USER 1000:1000', label]);
    expect(files.get('a')).toBe('content');
    expect([...files.keys()].filter((name) => name !== 'a')).toEqual([order.dockerfile, '.dockerignore']);
    expect(files.get('.dockerignore')).toBe(`${order.dockerfile}\n.dockerignore\n`);
    expect(order).toMatchObject({ network: true, tag: `${image.name}:i1`, limits: { memoryBytes: 4 * 1024 ** 3 } });
    expect((await build(folder('plain', null), undefined, false)).image.name).toBe(baseImageName);
  });

  it('reports its steps and their output', async () => {
    await build();
    expect(events.slice(-7)).toEqual([
      { kind: 'phase', text: expect.stringMatching(/^building carrel-sandbox-shop-/) },
      { kind: 'step', number: 1, total: 5, title: 'FROM carrel-sandbox:base' },
      { kind: 'step', number: 2, total: 5, title: 'COPY a /a' },
      { kind: 'step', number: 3, total: 5, title: 'RUN echo hi' },
      { kind: 'output', text: 'hi' },
      { kind: 'step', number: 4, total: 5, title: 'USER agent' },
      { kind: 'step', number: 5, total: 5, title: 'LABEL' },
    ]);
  });

  it('that fails reports the step and its last output', async () => {
    const bad = folder('bad', 'FROM carrel-sandbox:base\n\nRUN echo Step 4/5 : nonsense\nRUN exit 3\n');
    const fault = await refusal(build(bad));
    expect(fault).toMatchObject({ code: 'invalid', data: { line: 4, step: 3, exitCode: 3 } });
    expect(fault?.message).toBe('.carrel/Dockerfile.sandbox, line 4: step 3 of 5 failed (exit code 3): RUN exit 3');
    expect([...saved.keys()]).toEqual([baseImageName]);
  });

  it('is not built from a Dockerfile with a secret', async () => {
    const leaky = folder('leaky', 'FROM carrel-sandbox:base\nENV KEY=hunter2\n');
    expect((await refusal(build(leaky)))?.code).toBe('denied');
    expect(engine.builds).toHaveLength(1);
  });

  it('is cancelled by its caller, also while it waits in the queue', async () => {
    const abort = new AbortController();
    const slow = build(folder('slow', 'FROM carrel-sandbox:base\nRUN hang\n'), abort.signal);
    const waiting = new AbortController();
    const other = build(project, waiting.signal);
    const third = build();
    waiting.abort();
    await expect.poll(() => events.some((event) => event.kind === 'step' && event.title === 'RUN hang')).toBe(true);
    abort.abort();
    expect((await refusal(slow))?.code).toBe('cancelled');
    expect((await refusal(other))?.code).toBe('cancelled');
    expect((await third).built).toBe(true);
    expect(events).toContainEqual({ kind: 'phase', text: 'waiting for another build' });
  });
});

describe('a Dockerfile', () => {
  const copies = (from: string) => `FROM ${from}\nCOPY . /all\n`;
  const seen = () =>
    [...engine.builds.at(-1)!.files.keys()].filter((name) => !/^\.(carrel-|dockerignore)/.test(name)).sort();

  it('is also found in .aimi, where the base has another name', async () => {
    const path = folder('aimi', null);
    put(join(path, '.aimi/Dockerfile.sandbox'), copies('aimi-sandbox:base'));
    expect((await build(path)).built).toBe(true);
    expect(engine.builds.at(-1)!.dockerfile[0]).toBe(`FROM ${saved.get(baseImageName)!.id}`);
    put(join(path, '.carrel/Dockerfile.sandbox'), 'FROM carrel-sandbox:base\nRUN echo first\n');
    await build(path);
    expect(engine.builds.at(-1)!.dockerfile[1]).toBe('RUN echo first');
  });

  it('leaves out what the project ignores, or what its own ignore file names', async () => {
    put(join(project, '.carrel/Dockerfile.sandbox'), copies('carrel-sandbox:base'));
    put(join(project, 'secret'), 'x');
    put(join(project, '.dockerignore'), 'secret\n.carrel\n');
    await build();
    expect(seen()).toEqual(['a']);
    put(join(project, '.carrel/Dockerfile.sandbox.dockerignore'), '.carrel\na\n');
    await build();
    expect(seen()).toEqual(['secret']);
  });

  it('that is not understood is refused with its file and line, and nothing is built', async () => {
    put(join(project, '.carrel/Dockerfile.sandbox'), 'FROM carrel-sandbox:base\nFROM debian\n');
    await build(null);
    const before = engine.builds.length;
    expect((await refusal(build()))?.message).toMatch(/^\.carrel\/Dockerfile\.sandbox, line 2: debian is not the base/);
    expect(engine.builds.length).toBe(before);
  });
});

describe('names', () => {
  const remote = '[remote "origin"]\n\turl = https://example.com/acme/shop\n';

  it('come from the remote, and each belongs to one folder', async () => {
    put(join(project, '.git/config'), remote);
    const other = folder('copy', 'FROM carrel-sandbox:base\nRUN echo evil\n');
    put(join(other, '.git/config'), remote);
    const first = (await build()).image;
    expect(first.name).toBe('carrel-sandbox-acme-shop');
    const second = (await build(other)).image;
    expect(second.name).toMatch(/^carrel-sandbox-acme-shop-[0-9a-f]{8}$/);
    expect(saved.get(first.name)?.id).toBe(first.id);
    expect((await build(other)).image.name).toBe(second.name);
  });
});

describe('the base', () => {
  it('is pulled, or must exist when there is no network', async () => {
    images = open('debian:13');
    expect(await refusal(build(null))).toMatchObject({
      code: 'unavailable',
      hint: expect.stringContaining('docker import'),
    });
    engine.registry.set('debian:13', 'debian');
    expect(await refusal(build(null, undefined, false))).toMatchObject({ code: 'unavailable' });
    expect((await build(null)).image.name).toBe(baseImageName);
    expect(engine.builds.at(-1)!.files.get('tools/init')).toBe('a tool');
    expect(events).toContainEqual({ kind: 'phase', text: 'fetching debian:13' });
  });

  it('is built on the packages of this machine, which are imported once', async () => {
    images = open('host');
    expect((await build(null)).built).toBe(true);
    expect((await build(null)).built).toBe(false);
    const phases = events.filter((event) => event.kind === 'phase' && event.text.startsWith('collecting'));
    expect([phases.length, engine.builds.length]).toEqual([1, 1]);
  });

  it('is the image of a project that needs nothing more', async () => {
    const { image, notes } = await build(folder('plain', null));
    expect([image.name, notes.length]).toEqual([baseImageName, 1]);
  });

  it('without an engine causes one clear error', async () => {
    engine.absent = true;
    expect((await refusal(build()))?.code).toBe('unavailable');
  });
});

describe('earlier versions', () => {
  it('are removed, unless a sandbox was made of them', async () => {
    const first = (await build()).image;
    put(join(project, 'a'), '2');
    needed.add(first.id);
    const second = (await build()).image;
    expect(engine.ids).toContain(first.id);
    needed.clear();
    put(join(project, 'a'), '3');
    const third = (await build()).image;
    expect(engine.ids.filter((id) => [first.id, second.id, third.id].includes(id))).toEqual([third.id]);
    engine.put('foreign', 'of others', { 'carrel.image.home': 'i2' });
    put(join(project, 'a'), '4');
    await build();
    expect(await engine.find('foreign')).not.toBeNull();
  });
});

it('the image of the hub is imported under its name, and again only when its files changed', async () => {
  const signal = new AbortController().signal;
  const say = async () => {};
  const hub = () => images.build({ project: null, hub: true, network: true, check: () => {}, say, signal });
  const first = await hub();
  expect(first).toMatchObject({ built: true, image: { name: 'carrel-hub:latest', source: 'hub' } });
  expect(await hub()).toMatchObject({ built: false, image: { id: first.image.id } });
  expect(engine.builds).toEqual([]);
  program = 'second';
  expect((await hub()).built).toBe(true);
  expect(engine.ids).not.toContain(first.image.id);
});
