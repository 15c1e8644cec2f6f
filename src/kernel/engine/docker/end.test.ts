import { expect, test } from 'vitest';
import { Fault } from '../../../model/fault.ts';
import type { DockerContext } from './context.ts';
import { removeEverything, stopContainer } from './end.ts';

test('an engine that goes away before the signal is sent causes one error', async () => {
  const away = new Fault('unavailable', 'no answer');
  const connection = { wait: () => Promise.reject(away), find: () => new Promise((resolve) => setImmediate(resolve)) };
  await expect(stopContainer({ connection } as unknown as DockerContext, 'box', 1000)).rejects.toBe(away);
});

test('removing a sandbox tolerates an idle volume that another sandbox has taken meanwhile', async () => {
  const tried: string[] = [];
  const taken = new Fault('conflict', 'volume is in use', { cause: { statusCode: 409 } });
  const docker = {
    getContainer: () => ({ remove: async () => {} }),
    listVolumes: async ({ filters }: { filters: string }) => ({
      Volumes: 'dangling' in JSON.parse(filters) ? [{ Name: 'carrel-session-1', Labels: {} }] : [],
    }),
    getVolume: (name: string) => ({
      remove: async () => {
        tried.push(name);
        throw taken;
      },
    }),
  };
  const ask = (question: (engine: typeof docker) => Promise<unknown>) => question(docker);
  const containers = { idOf: async () => 'box', forget: () => {} };
  const places = { containers, run: () => '/nonexistent', isBegun: () => false, stage: { hide: () => {} } };
  const context = { connection: { ask, find: ask }, installation: 'here', ...places } as unknown as DockerContext;
  await removeEverything(context, '0123456789abcdef');
  expect(tried).toEqual(['carrel-session-1']);
});
