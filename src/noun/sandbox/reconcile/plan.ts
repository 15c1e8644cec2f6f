/**
 * Decides the next step for one sandbox from its record and its observed state. Pure.
 *
 * It names one step at a time; after each step everything is read again. The order of steps makes crashes harmless: the
 * record is written before the engine acts, and removed only after the engine holds nothing.
 */
import type { Exit, Observed, Started, Trouble } from '../../../kernel/engine/engine.ts';
import { hasEnded, type Sandbox, type SandboxSpec, type SandboxState, type SandboxStatus } from '../model.ts';

export type SandboxStep =
  /** Reset the status for a new attempt, after the last one was cleared from the engine. */
  | { readonly action: 'renew' }
  | { readonly action: 'start' }
  | { readonly action: 'adopt'; readonly started: Started }
  | { readonly action: 'stop' }
  /** Record that the trouble of a running sandbox has changed. */
  | { readonly action: 'note'; readonly trouble: Trouble | null }
  | {
      readonly action: 'conclude';
      readonly state: SandboxState;
      readonly reason: string | null;
      readonly exit: Exit | null;
    }
  /** Remove an ended sandbox from the engine; its data stays. */
  | { readonly action: 'clear' }
  /** Remove the data and the record. */
  | { readonly action: 'forget' };

export type Action = SandboxStep['action'];

type Running = Extract<Observed, { kind: 'running' }>;

/** `held`: a client is still reading, so a sandbox with autoRemove is not removed yet. */
export function plan(sandbox: Sandbox, observed: Observed, held = false): SandboxStep | null {
  const { spec, status } = sandbox;
  if (hasEnded(status)) return planEnded(sandbox, observed, held);
  if (observed.kind === 'exited') return concludeExit(sandbox, observed.exit);
  if (spec.desired !== 'running') return planStop(spec, observed);
  if (observed.kind === 'paused') return conclude('stopped', 'paused', null);
  if (observed.kind === 'running') return planRunning(status, observed);
  return wasLaunched(status) ? conclude('failed', 'lost', null) : { action: 'start' };
}

function planRunning(status: SandboxStatus, { started, ...observed }: Running): SandboxStep | null {
  if (!wasLaunched(status)) return { action: 'adopt', started };
  const trouble = observed.trouble ?? null;
  return status.reason === trouble ? null : { action: 'note', trouble };
}

function planEnded({ spec, status }: Sandbox, observed: Observed, held: boolean): SandboxStep | null {
  const leaves = spec.desired === 'removed' || (spec.autoRemove && !status.kept && !held);
  const returns = spec.desired === 'running' && spec.attempt > status.attempt;
  if (!leaves && !returns) return mayRun(observed) ? { action: 'stop' } : null;
  if (observed.kind !== 'absent') return { action: 'clear' };
  return leaves ? { action: 'forget' } : { action: 'renew' };
}

function mayRun(observed: Observed): boolean {
  return observed.kind !== 'absent' && observed.kind !== 'exited';
}

function planStop({ stopReason = null }: SandboxSpec, observed: Observed): SandboxStep {
  return observed.kind === 'absent' ? conclude('stopped', stopReason, null) : { action: 'stop' };
}

function wasLaunched(status: SandboxStatus): boolean {
  return status.handle !== null;
}

/** An end that the user asked for is `stopped`, whatever the exit code. */
function concludeExit({ spec }: Sandbox, exit: Exit): SandboxStep {
  if (spec.desired !== 'running') return conclude('stopped', spec.stopReason ?? null, exit);
  if (exit.outOfMemory && exit.exitCode !== 0) return conclude('failed', 'oom', exit);
  if (exit.exitCode === 0) return conclude('completed', null, exit);
  return conclude('failed', exit.signal ? `killed by ${exit.signal}` : `exited with ${exit.exitCode}`, exit);
}

function conclude(state: SandboxState, reason: string | null, exit: Exit | null): SandboxStep {
  return { action: 'conclude', state, reason, exit };
}
