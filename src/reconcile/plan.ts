/**
 * What to do next about one sandbox, decided from its record and from what is so. Pure: the same in, the same out.
 *
 * One step at a time; after each step everything is read again. The order of steps is what makes crashes harmless: the
 * record is written before the engine acts, and forgotten only after the engine has nothing left.
 */
import type { Exit, Observed, Started, Trouble } from '../engine/engine.ts';
import { hasEnded, type Sandbox, type SandboxSpec, type SandboxState, type SandboxStatus } from '../model/sandbox.ts';

export type Step =
  /** Take up a new attempt, after the last one is out of the engine. */
  | { readonly action: 'renew' }
  | { readonly action: 'start' }
  | { readonly action: 'adopt'; readonly started: Started }
  | { readonly action: 'stop' }
  /** It runs, but not as it should, or does so again. */
  | { readonly action: 'note'; readonly trouble: Trouble | null }
  | {
      readonly action: 'conclude';
      readonly state: SandboxState;
      readonly reason: string | null;
      readonly exit: Exit | null;
    }
  /** Take an ended sandbox out of the engine; its own data stays. */
  | { readonly action: 'clear' }
  /** Data and record go. */
  | { readonly action: 'forget' };

export type Action = Step['action'];

type Running = Extract<Observed, { kind: 'running' }>;

/** `held`: a client is still reading, so an ended sandbox does not remove itself yet. */
export function plan(sandbox: Sandbox, observed: Observed, held = false): Step | null {
  const { spec, status } = sandbox;
  if (hasEnded(status)) return planEnded(sandbox, observed, held);
  if (observed.kind === 'exited') return concludeExit(sandbox, observed.exit);
  if (spec.desired !== 'running') return planStop(spec, observed);
  if (observed.kind === 'paused') return conclude('stopped', 'paused', null);
  if (observed.kind === 'running') return planRunning(status, observed);
  return wasLaunched(status) ? conclude('failed', 'lost', null) : { action: 'start' };
}

function planRunning(status: SandboxStatus, { started, ...observed }: Running): Step | null {
  if (!wasLaunched(status)) return { action: 'adopt', started };
  const trouble = observed.trouble ?? null;
  return status.reason === trouble ? null : { action: 'note', trouble };
}

function planEnded({ spec, status }: Sandbox, observed: Observed, held: boolean): Step | null {
  const leaves = spec.desired === 'removed' || (spec.autoRemove && !status.kept && !held);
  const returns = spec.desired === 'running' && spec.attempt > status.attempt;
  if (!leaves && !returns) return mayRun(observed) ? { action: 'stop' } : null;
  if (observed.kind !== 'absent') return { action: 'clear' };
  return leaves ? { action: 'forget' } : { action: 'renew' };
}

function mayRun(observed: Observed): boolean {
  return observed.kind !== 'absent' && observed.kind !== 'exited';
}

function planStop({ stopReason = null }: SandboxSpec, observed: Observed): Step {
  return observed.kind === 'absent' ? conclude('stopped', stopReason, null) : { action: 'stop' };
}

function wasLaunched(status: SandboxStatus): boolean {
  return status.handle !== null;
}

/** An end that was asked for is `stopped`, whatever code it ended with. */
function concludeExit({ spec }: Sandbox, exit: Exit): Step {
  if (spec.desired !== 'running') return conclude('stopped', spec.stopReason ?? null, exit);
  if (exit.outOfMemory && exit.exitCode !== 0) return conclude('failed', 'oom', exit);
  if (exit.exitCode === 0) return conclude('completed', null, exit);
  return conclude('failed', exit.signal ? `killed by ${exit.signal}` : `exited with ${exit.exitCode}`, exit);
}

function conclude(state: SandboxState, reason: string | null, exit: Exit | null): Step {
  return { action: 'conclude', state, reason, exit };
}
