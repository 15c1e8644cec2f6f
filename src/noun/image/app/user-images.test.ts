import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../../test/fakes/store/memory.ts';
import { type ServedApp, serve } from '../../../../test/fixtures/served.ts';
import { Fault } from '../../../model/fault.ts';
import { AllowList } from '../allow.ts';
import { FakeImages } from '../fake.ts';
import { imageRecords, UserImages } from './user-images.ts';

describe('the route for builds', () => {
  let served: ServedApp;
  beforeEach(() => {
    served = serve();
  });
  afterEach(() => served.dispose());

  it.each<[body: object, where: string]>([
    [{ projekt: '/p' }, 'body'],
    [{ project: '' }, 'body.project'],
    [{ project: 1 }, 'body.project'],
    [{ offline: 'yes' }, 'body.offline'],
  ])('%j is refused', async (body, where) => {
    const { status, body: answer } = await served.call('POST', '/v1/images/build', body);
    expect([status, answer]).toEqual([
      400,
      expect.objectContaining({ message: expect.stringMatching(new RegExp(`^${where}: `)) }),
    ]);
  });
});

describe('the images of a user', () => {
  const engine = new FakeImages();
  const records = imageRecords(createMemoryStore(), () => 'now');
  const allowed = new AllowList({ engine, records, list: () => ['debian'], now: () => 'now' });
  const users = new Map<string, string[]>();
  const images = (isOwner: boolean) =>
    new UserImages(
      { name: isOwner ? 'ann' : 'bob', isOwner },
      {
        ...{ images: {} as never, allowed, records, engine, refuseText: () => {} },
        usersOf: (id) => users.get(id) ?? [],
        projectFolder: () => {
          throw new Fault('invalid', 'no project');
        },
      },
    );

  it('are built only for the owner, and only of a folder that can be a project', () => {
    expect(() => images(false).order({})).toThrow('only the owner');
    expect(() => images(true).order({ project: '/p' })).toThrow('no project');
  });

  it('are listed to users who may use them, and show whether a name has moved', async () => {
    const made = engine.put('made', 'made');
    records.save({ name: 'carrel-sandbox-x', id: made, source: 'project', project: '/x', checksum: 'c', at: 'then' });
    const names = async (isOwner: boolean) =>
      (await images(isOwner).list()).map(({ name, state }) => `${name} ${state}`);
    expect(await names(true)).toEqual(['carrel-sandbox-x ready', 'debian missing']);
    expect(await names(false)).toEqual(['debian missing']);
    engine.put('debian', '1');
    await images(false).resolve('debian');
    engine.put('debian', '2');
    expect(await names(false)).toEqual(['debian moved']);
    expect(await images(true).list()).toContainEqual(
      expect.objectContaining({ name: 'debian', at: 'now', source: 'listed' }),
    );
    await engine.remove(made);
    expect(await names(true)).toEqual(['carrel-sandbox-x missing', 'debian moved']);
  });

  it('are removed only by the owner, if they were made here and no sandbox is made of them', async () => {
    const id = engine.put('gone', 'gone');
    records.save({ name: 'carrel-sandbox-gone', id, source: 'project', project: '/g', checksum: 'c', at: 'then' });
    users.set(id, ['box', 'twin']);
    await expect(images(false).remove('carrel-sandbox-gone')).rejects.toThrow('only the owner');
    await expect(images(true).remove('carrel-sandbox-gone')).rejects.toThrow('used by 2 sandboxes: box, twin');
    users.clear();
    expect(await images(true).remove('carrel-sandbox-gone')).toMatchObject({
      name: 'carrel-sandbox-gone',
      state: 'missing',
    });
    expect([await engine.find(id), records.find('carrel-sandbox-gone')]).toEqual([null, null]);
    await expect(images(true).remove('carrel-sandbox-gone')).rejects.toMatchObject({ code: 'not_found' });
    engine.put('debian', '1');
    await expect(images(true).remove('debian')).rejects.toThrow('debian:latest was not made here');
  });
});
