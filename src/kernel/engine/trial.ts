/** Tries whether an engine can start a sandbox: starts one that ends at once, and removes it. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '../../lib/flow/with-timeout.ts';
import { asFault, Fault, isFault } from '../../model/fault.ts';
import { defaultLimits } from '../../model/limits.ts';
import type { Engine, Launch, Root } from './engine.ts';

/** Long enough for a busy machine. */
const trialMs = 60_000;
const pollMs = 10;

/** Null: the sandbox started and ended with 0. */
export async function trySandbox(engine: Engine, root: Root = { kind: 'host' }): Promise<Fault | null> {
  const failed = await tryOnce(engine, root);
  // The sandbox has no record, so the daemon may have removed it as an orphan.
  return failed !== null && isFault(failed, 'not_ready') ? tryOnce(engine, root) : failed;
}

async function tryOnce(engine: Engine, root: Root): Promise<Fault | null> {
  const launch = trialLaunch(root);
  const tried = runToEnd(engine, launch).catch((error: unknown) => asFault(error));
  try {
    return await withTimeout<Fault | null>(
      trialMs,
      tried,
      () => new Fault('timeout', `no sandbox started in ${trialMs} ms`),
    );
  } finally {
    // The daemon removes it later as an orphan, ignoring.
    await engine.remove(launch.id, null).catch(() => {});
  }
}

async function runToEnd(engine: Engine, launch: Launch): Promise<Fault | null> {
  await engine.start(launch);
  for (;;) {
    const found = await engine.inspect(launch.id, null);
    if (found.kind === 'absent') throw new Fault('not_ready', 'the trial was removed meanwhile');
    if (found.kind === 'exited') return found.exit.exitCode === 0 ? null : ended(found.exit.exitCode);
    await sleep(pollMs);
  }
}

function ended(exitCode: number): Fault {
  return new Fault('unavailable', `a trial sandbox that runs only true ended with ${exitCode}`);
}

function trialLaunch(root: Root): Launch {
  return {
    id: randomBytes(8).toString('hex'),
    hostname: 'trial',
    slot: 0,
    runtime: null,
    root,
    mounts: [],
    command: ['true'],
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
    limits: defaultLimits,
    demanded: [],
    held: [],
    stdin: false,
    terminal: null,
    console: false,
  };
}
