/**
 * What every engine promises, sentence by sentence of `src/kernel/engine/engine.ts`. Each case gets an engine of its own from
 * `setup`; the suite removes what it launched, checks that nothing is left, and disposes of every instance.
 */
import { describe, test } from 'vitest';
import { attachment } from './engine/attach.ts';
import { endings } from './engine/end.ts';
import { executions } from './engine/exec.ts';
import { lifeCycle } from './engine/life-cycle.ts';
import { logging } from './engine/logs.ts';
import { nestedMounts } from './engine/nested.ts';
import { networks } from './engine/network.ts';
import { observation } from './engine/observe.ts';
import { ownedFolders } from './engine/own.ts';
import { pauses } from './engine/pause.ts';
import type { EngineSetup } from './engine/setup.ts';
import { terminals } from './engine/terminal.ts';
import { type Case, Trial } from './engine/trial.ts';

type Part = (it: Case) => void;

/** The life cycle of a sandbox: enough for an engine that shares its code with another one, which is tested in full. */
export const coreParts: readonly Part[] = [lifeCycle, endings];
export const everyPart: readonly Part[] = [
  ...coreParts,
  observation,
  executions,
  terminals,
  attachment,
  logging,
  pauses,
  networks,
];

export function engineConformance(name: string, setup: () => Promise<EngineSetup>, parts = everyPart): void {
  const it = caseWith(setup);
  describe(`${name} keeps the contract of an engine`, () => {
    for (const part of parts) part(it);
  });
}

/** For engines that run real programs on files of the host: what `src/model/mount.ts` promises. */
export function mountConformance(name: string, setup: () => Promise<EngineSetup>): void {
  const it = caseWith(setup);
  describe(`${name} mounts what the launch says`, () => {
    ownedFolders(it);
    nestedMounts(it);
  });
}

function caseWith(setup: () => Promise<EngineSetup>): Case {
  return test.extend<{ t: Trial }>({
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of fixtures from the pattern.
    t: async ({}, use) => {
      const trial = new Trial(await setup());
      await use(trial);
      await trial.close();
    },
  });
}
