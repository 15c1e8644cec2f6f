import { beforeEach, describe, expect, it } from 'vitest';
import { isFault } from '../../model/fault.ts';
import { AllowList } from './allow.ts';
import { FakeImages } from './fake.ts';
import type { Image } from './model.ts';

let engine: FakeImages;
let list: string[];
let saved: Map<string, Image>;
let allowed: AllowList;

beforeEach(() => {
  [engine, list, saved] = [new FakeImages(), [], new Map()];
  const records = {
    find: (name: string) => saved.get(name) ?? null,
    list: () => [...saved.values()],
    save: (image: Image) => void saved.set(image.name, image),
    remove: (name: string) => void saved.delete(name),
  };
  allowed = new AllowList({ engine, records, list: () => list, now: () => 'now' });
});

const code = async (reference: string, isOwner = true) =>
  allowed.resolve(reference, isOwner).then(
    () => 'ok',
    (error: unknown) => (isFault(error) ? error.code : 'thrown'),
  );
const both = (name: string, content: string) => {
  engine.put(`${name}:latest`, content);
  return engine.put(name, content);
};

describe('the list of the owner', () => {
  it('holds the only images that may be used, even by the owner', async () => {
    both('debian', '1');
    expect(await code('debian')).toBe('denied');
    list = ['debian'];
    expect([await code('debian'), await code('debian:latest'), await code('debian', false)]).toEqual([
      'ok',
      'ok',
      'ok',
    ]);
    for (const other of ['debian:12', 'x/debian', 'Debian', 'debian ', '', 'sha256:1'])
      expect(await code(other)).toBe('denied');
  });

  it('reports images that the engine does not have', async () => {
    list = ['debian'];
    expect(await code('debian')).toBe('not_found');
    engine.absent = true;
    expect(await code('debian')).toBe('unavailable');
  });
});

describe('a name', () => {
  it('is refused with the reason when no sandbox can be made of it, and is not recorded then', async () => {
    list = ['scratch'];
    engine.refusals.set(both('scratch', 'no shell'), 'it has no sh in /bin');
    await expect(allowed.resolve('scratch', true)).rejects.toMatchObject({
      code: 'unsupported',
      message: 'no sandbox can be made of scratch: it has no sh in /bin',
    });
    both('scratch', 'another');
    expect(await code('scratch')).toBe('ok');
  });

  it('means the content that it meant at its first use, and is refused when that changes', async () => {
    list = ['debian'];
    const id = both('debian', '1');
    expect(await allowed.resolve('debian', false)).toMatchObject({ name: 'debian', id });
    both('debian', '2');
    expect(await code('debian')).toBe('denied');
    expect(await code('debian:latest')).toBe('denied');
    expect(await allowed.listed()).toMatchObject([{ name: 'debian', pinned: id }]);
    both('debian', '1');
    expect(await code('debian')).toBe('ok');
  });

  it('is allowed again by digest', async () => {
    list = ['debian'];
    both('debian', '1');
    await code('debian');
    const id = both('debian', '2');
    list = [`debian@${id}`];
    expect(await allowed.resolve('debian', false)).toMatchObject({ name: 'debian', id });
    expect(await code(`debian@${id}`)).toBe('ok');
    list = ['debian'];
    expect(await code('debian')).toBe('ok');
  });

  it('with a digest means no other content', async () => {
    const id = both('debian', '1');
    list = [`debian@${id}`];
    both('debian', '2');
    expect(await allowed.resolve('debian', false)).toMatchObject({ name: 'debian', id });
    await engine.remove(id);
    expect(await code('debian')).toBe('not_found');
  });
});

describe('an image that was built here', () => {
  const name = 'carrel-sandbox-shop';
  beforeEach(() => {
    const id = engine.put('tag', 'made');
    saved.set(name, { name, id, source: 'project', project: '/p', checksum: 'c', at: 'now' });
  });

  it('may be used by the owner, and by other users if it is listed', async () => {
    expect([await code(name), await code(name, false)]).toEqual(['ok', 'denied']);
    list = [name];
    expect(await code(name, false)).toBe('ok');
    expect([allowed.isShared(name), await allowed.listed()]).toEqual([true, []]);
  });

  it('is used by id, whatever the engine has under its name', async () => {
    const id = saved.get(name)!.id;
    engine.put(name, 'evil');
    expect(await allowed.resolve(name, true)).toEqual({ name, id, path: '/made/bin' });
    await engine.remove(id);
    expect(await code(name)).toBe('not_found');
  });
});
