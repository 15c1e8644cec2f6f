/** What a sandbox leaves to see while it lives and after, by the engine that it is on: for tests that kill the daemon. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { Dockerd } from './dockerd.ts';
import { Installation, isRunning, until } from './installation.ts';
import { isRealRoot } from './machine.ts';
import { childrenOf, groupsOf, processesMentioning } from './traces.ts';

export interface CrashGround {
  /** Once, before all. */
  open(): Promise<void>;
  installation(): Installation;
  /** How many of this installation's sandboxes run, by what of them outlives the daemon. */
  running(carrel: Installation): Promise<number>;
  /** One that does not run holds no process, no group, no place in the runtime. */
  expectFreed(carrel: Installation, id: string): Promise<void>;
  /** Nothing of any sandbox is left. */
  expectNothing(carrel: Installation): Promise<void>;
  /** Makes it vanish, and everything with it that could tell of its end. */
  removeBehindOurBack(carrel: Installation, id: string): Promise<void>;
  close(): Promise<void>;
}

export const localGround: CrashGround = {
  open: async () => {},
  installation: () => new Installation(),
  running: async ({ home }) => processesMentioning(home, 'conmon').length,
  expectFreed: async ({ home }, id) => {
    expect(processesMentioning(home, 'conmon')).toEqual([]);
    expect(groupsOf(id)).toEqual([]);
    expect(readdirSync(join(home, 'engine/state/crun'))).toEqual([]);
  },
  expectNothing: async ({ home }) => {
    expect(readdirSync(join(home, 'engine/run'))).toEqual([]);
    expect(readdirSync(join(home, 'engine/exit'))).toEqual([]);
  },
  removeBehindOurBack: async ({ home }) => {
    const [keeper] = processesMentioning(home, 'conmon');
    const [init] = childrenOf(keeper!);
    process.kill(keeper!, 'SIGKILL');
    process.kill(init!, 'SIGKILL');
    await until(() => !isRunning(init!), 'the sandbox to be gone');
  },
  close: async () => {},
};

/** One dockerd for all; each installation has its own containers. */
export function dockerGround(): CrashGround {
  let dockerd: Dockerd;
  const listed = async (...args: string[]) => (await dockerd.docker(...args)).split('\n').filter(Boolean);
  return {
    open: async () => {
      dockerd = await Dockerd.open();
    },
    installation: () => new Installation(null, dockerd),
    running: async () => (await listed('ps', '--quiet')).length,
    expectFreed: async (_, id) => {
      expect(await listed('ps', '--quiet', '--filter', `label=carrel.id=${id}`)).toEqual([]);
    },
    expectNothing: async ({ home }) => {
      expect(await listed('ps', '--all', '--quiet')).toEqual([]);
      expect(await listed('volume', 'ls', '--quiet')).toEqual([]);
      for (const name of ['run', 'stage', 'paused']) expect(readdirSync(join(home, 'engine-docker', name))).toEqual([]);
    },
    removeBehindOurBack: async (_, id) => {
      const [container] = await listed('ps', '--quiet', '--filter', `label=carrel.id=${id}`);
      await dockerd.docker('rm', '--force', container!);
    },
    close: () => dockerd.dispose(),
  };
}

/** By engine. Without root there is no dockerd. */
export const crashGrounds: readonly (readonly [string, CrashGround])[] = [
  ['local', localGround],
  ...(isRealRoot ? [['docker', dockerGround()] as const] : []),
];
