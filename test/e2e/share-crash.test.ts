/** The daemon is killed between every two steps of adding and revoking a share; the next one ends what was begun. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ShareView } from '../../src/api/share.ts';
import { Installation } from '../harness/installation.ts';

describe('shares and crashes', () => {
  let carrel: Installation;
  let count = 0;

  beforeAll(() => {
    carrel = new Installation();
  });
  afterAll(() => carrel.dispose());
  afterEach(async () => {
    await carrel.clear();
    for (const { name } of await shares()) await carrel.ok('share', 'revoke', name);
  });

  const shares = () => carrel.json<ShareView[]>('share', 'ls');
  const folder = () => {
    count += 1;
    return carrel.folder(`folder-${count}`);
  };
  const states = async () =>
    (await shares()).flatMap(({ consumers }) => consumers.map(({ consumer, state }) => `${consumer} ${state}`));
  const inside = async (name: string, script: string) =>
    (await carrel.run(['exec', name, '--', 'sh', '-c', script])).stdout;

  it.each(['revoke:recorded', 'revoke:detached', 'revoke:removed', 'revoke:forgotten', 'revoke:concluded'])(
    'finishes a revocation after a crash at %s',
    async (point) => {
      await carrel.ok('share', 'add', 'inbox', folder(), '--at', 'box=/in');
      await carrel.ok('create', '--name', 'box');
      await carrel.crashDuring(point, 'share', 'revoke', 'inbox');
      await carrel.list();
      expect(await shares()).toEqual([]);
      expect(await carrel.show('box')).toMatchObject({ state: 'running', shares: [] });
      expect(await inside('box', 'touch /in/x || echo gone')).toBe('gone\n');
    },
  );

  it.each(['share:recorded', 'share:granted', 'share:given'])(
    'finishes an addition after a crash at %s',
    async (point) => {
      await carrel.ok('create', '--name', 'box');
      await carrel.crashDuring(point, 'share', 'add', 'inbox', folder(), '--at', 'box=/in');
      await carrel.ok('stop', 'box');
      await carrel.ok('start', 'box');
      expect(await states()).toEqual(['sandbox:box mounted']);
    },
  );
});
