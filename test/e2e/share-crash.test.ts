/**
 * The daemon is killed between every two steps of adding and revoking a share; the next daemon completes the operation.
 */
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readAttribute } from '../../src/lib/sys/sys-attribute.ts';
import type { ShareView } from '../../src/noun/share/api.ts';
import { Installation, until } from '../harness/installation.ts';

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
    'the next daemon finishes a revocation after a crash at %s',
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
    'the next daemon finishes an addition after a crash at %s',
    async (point) => {
      await carrel.ok('create', '--name', 'box');
      await carrel.crashDuring(point, 'share', 'add', 'inbox', folder(), '--at', 'box=/in');
      await until(async () => (await states())[0] === 'sandbox:box mounted', 'the mount');
    },
  );

  it.each(['revoke:recorded', 'revoke:denied', 'revoke:forgotten'])(
    'the next daemon closes the folder to a person after a crash at %s',
    async (point) => {
      const path = folder();
      await carrel.ok('share', 'add', 'inbox', path, '--at', 'person:nobody');
      await carrel.crashDuring(point, 'share', 'revoke', 'inbox', 'person:nobody');
      expect(await states()).toEqual([]);
      const fd = openSync(path, 'r');
      expect(readAttribute(fd, 'system.posix_acl_default')).toBeNull();
      closeSync(fd);
    },
  );

  it.each(['revoke:detached', 'revoke:removed'])(
    'the next daemon stops a sandbox that uses the share after a crash of revoke --force at %s',
    async (point) => {
      const path = folder();
      await carrel.ok('share', 'add', 'inbox', path);
      const held = 'exec 3>/in/file; touch /in/ready; sleep 1000';
      await carrel.ok('create', '--name', 'box', '--share', 'inbox:/in', '--', 'sh', '-c', held);
      await until(() => existsSync(join(path, 'ready')), 'the holder');
      await carrel.crashDuring(point, 'share', 'revoke', 'inbox', '--force');
      await until(async () => (await carrel.show('box')).state === 'stopped', 'the sandbox to be stopped');
      expect(await carrel.show('box')).toMatchObject({ shares: [] });
      expect(await shares()).toEqual([]);
    },
  );
});
