/** The traces of sandboxes on the host, for each engine: for tests that kill the daemon. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { run } from '../../src/lib/process/run.ts';
import { Dockerd } from './dockerd.ts';
import { Installation, isRunning, until } from './installation.ts';
import { isRealRoot } from './machine.ts';
import { Podman } from './podman.ts';
import { otherUid, type Repository } from './repository.ts';
import { createRootlessAccount, type RootlessAccount, rootlessUid } from './rootless.ts';
import { childrenOf, groupsOf, processesMentioning } from './traces.ts';

export interface CrashTestbed {
  /** Sandboxes have control groups that are named after them. */
  readonly groups: boolean;
  /** Called once, before all tests. */
  open(): Promise<void>;
  installation(): Installation;
  /** The number of running sandboxes of the installation, counted by traces that outlive the daemon. */
  running(carrel: Installation): Promise<number>;
  /** Checks that a sandbox that does not run has no process, no control group and no state in the runtime. */
  expectFreed(carrel: Installation, id: string): Promise<void>;
  /** Checks that nothing of any sandbox is left. */
  expectNothing(carrel: Installation): Promise<void>;
  /** Removes a sandbox together with everything that could report its end. */
  removeWithoutDaemon(carrel: Installation, id: string): Promise<void>;
  /** Pauses a sandbox without the daemon. */
  pauseWithoutDaemon(carrel: Installation, id: string): Promise<void>;
  /**
   * Waits until the engine has noticed that a sandbox is out of memory. An engine that notices the end of the sandbox
   * first never does.
   */
  noticesOutOfMemory(carrel: Installation, id: string): Promise<void>;
  close(): Promise<void>;
}

export const localTestbed: CrashTestbed = {
  groups: true,
  open: async () => {},
  installation: () => new Installation(),
  running: async ({ home }) => processesMentioning(home, 'conmon').length,
  // A keeper ends shortly after it has reported the end of the sandbox.
  expectFreed: ({ home }, id) =>
    vi.waitFor(() => {
      expect(processesMentioning(home, 'conmon')).toEqual([]);
      expect(groupsOf(id)).toEqual([]);
      expect(readdirSync(join(home, 'engine/state/crun'))).toEqual([]);
    }, 40_000),
  expectNothing: async ({ home }) => {
    expect(readdirSync(join(home, 'engine/run'))).toEqual([]);
    expect(readdirSync(join(home, 'engine/exit'))).toEqual([]);
  },
  removeWithoutDaemon: async (_, id) => {
    const [keeper] = processesMentioning(id, 'conmon');
    const [init] = childrenOf(keeper!);
    process.kill(keeper!, 'SIGKILL');
    process.kill(init!, 'SIGKILL');
    await until(() => !isRunning(init!), 'the sandbox to be gone');
  },
  pauseWithoutDaemon: async ({ home }, id) => {
    const { exitCode, stderr } = await run(['crun', '--root', join(home, 'engine/state/crun'), 'pause', id]);
    if (exitCode !== 0) throw new Error(stderr);
  },
  noticesOutOfMemory: ({ home }, id) =>
    until(() => existsSync(join(home, 'engine/run', id, 'oom')), 'conmon to notice the lack of memory'),
  close: async () => {},
};

/** One engine for all installations; each has its own containers. */
export function dockerTestbed(open: () => Promise<Dockerd> = Dockerd.open): CrashTestbed {
  let dockerd: Dockerd;
  const listed = async (...args: string[]) => (await dockerd.docker(...args)).split('\n').filter(Boolean);
  return {
    groups: false,
    open: async () => {
      dockerd = await open();
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
    removeWithoutDaemon: async (_, id) => {
      const [container] = await listed('ps', '--quiet', '--filter', `label=carrel.id=${id}`);
      await dockerd.docker('rm', '--force', container!);
    },
    pauseWithoutDaemon: async (_, id) => {
      const [container] = await listed('ps', '--quiet', '--filter', `label=carrel.id=${id}`);
      await dockerd.docker('pause', container!);
    },
    noticesOutOfMemory: async (_, id) => {
      const past = ['events', '--since', '1h', '--until', '0s', '--filter', 'event=oom'];
      const notices = () => listed(...past, '--filter', `label=carrel.id=${id}`);
      await until(async () => (await notices()).length > 0, 'the engine to notice the lack of memory');
    },
    close: () => dockerd.dispose(),
  };
}

/** The place where swarms work. */
export interface SwarmTestbed extends Pick<CrashTestbed, 'open' | 'installation' | 'close'> {
  /** Options of `swarm run`. */
  readonly options: readonly string[];
  /** Gives a project the owner that the account of the daemon needs. */
  give(repository: Repository): void;
}

/** The daemon runs without privileges. */
function rootlessTestbed(): SwarmTestbed {
  let account: RootlessAccount;
  return {
    open: async () => {
      account = createRootlessAccount();
    },
    installation: () => new Installation(account),
    options: [],
    give: (repository) => repository.give(rootlessUid),
    close: async () => account.dispose(),
  };
}

export const podmanTestbed = dockerTestbed(() => Podman.open());

/** By engine. Without root there is no dockerd. */
export const crashTestbeds: readonly (readonly [string, CrashTestbed])[] = [
  ['local', localTestbed],
  ...(isRealRoot ? [['docker', dockerTestbed()] as const] : []),
];

/** By engine, and without root. */
export const swarmTestbeds: readonly (readonly [string, SwarmTestbed])[] = [
  ...crashTestbeds.map(([engine, testbed]) => {
    const give = (repository: Repository) => repository.give(otherUid);
    return [engine, { ...testbed, options: ['--engine', engine], give }] as const;
  }),
  ...(isRealRoot ? [['local, rootless', rootlessTestbed()] as const] : []),
];
