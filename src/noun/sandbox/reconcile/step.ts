/** Takes the steps that `plan` names. Each step can be repeated after a crash at any point. */
import type { Exit, Launch, Started, Trouble } from '../../../kernel/engine/engine.ts';
import type { WriteOptions } from '../../../kernel/store/store.ts';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { asFault, type Fault, isFault } from '../../../model/fault.ts';
import { composeLaunch } from '../launch/launch.ts';
import { initialStatus, type Sandbox, type SandboxStatus, withStatus } from '../model.ts';
import type { Action, SandboxStep } from './plan.ts';
import type { ReconcileParts, SandboxRow } from './reconcile.ts';
import { visitId } from './visit-id.ts';

export interface StepParts extends ReconcileParts {
  /** Whether the next start of the sandbox keeps a console. */
  readonly wantsConsole: (id: string) => boolean;
}

type StepOf<A extends Action> = Extract<SandboxStep, { action: A }>;
type Take<S extends SandboxStep> = (parts: StepParts, row: SandboxRow, step: S) => Promise<void>;

const actions: { readonly [A in Action]: Take<StepOf<A>> } = {
  renew,
  start,
  adopt: async (parts, row, { started }) => recordStart(parts, row, started),
  note: async (parts, row, { trouble }) => recordTrouble(parts, row, trouble),
  stop: async ({ engineOf }, { id, value }) => engineOf(value).stop(id, value.status.handle, value.spec.graceMs),
  conclude,
  clear,
  forget,
};

export function takeStep(parts: StepParts, row: SandboxRow, step: SandboxStep): Promise<void> {
  return (actions[step.action] as Take<SandboxStep>)(parts, row, step);
}

async function renew(parts: StepParts, row: SandboxRow): Promise<void> {
  // A lost sandbox may have left a log, which the next start removes.
  await keepOutput(parts, row);
  // The status follows from the spec, so it need not survive a power cut.
  const status = { ...initialStatus, attempt: row.value.spec.attempt };
  save(parts, row, status, 'sandbox.renewed', { lazy: true });
}

/**
 * Thrown after the failure of a start was recorded. Other Faults of a step may only mean that another writer was first.
 */
export class FailedStart extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message);
    this.fault = fault;
  }
}

async function start(parts: StepParts, row: SandboxRow): Promise<void> {
  const started = await launched(parts, row).catch((error: unknown) => {
    const fault = asFault(error);
    recordEnd(parts, row, { state: 'failed', reason: fault.message }, null);
    throw new FailedStart(fault);
  });
  crashPoint('start:started');
  recordStart(parts, row, started);
}

async function launched(parts: StepParts, { value }: SandboxRow): Promise<Started> {
  const launch = await launchOf(parts, value);
  crashPoint('start:prepared');
  return parts.engineOf(value).start(launch, (init) => parts.data.connect(value, init));
}

export async function launchOf(parts: StepParts, sandbox: Sandbox): Promise<Launch> {
  const { store, places, data } = parts;
  const held = await data.prepare(sandbox);
  const slot = store.find('user', '', sandbox.spec.user)?.value.slot ?? 0;
  return composeLaunch(sandbox, { slot, console: parts.wantsConsole(sandbox.id), held }, places);
}

/**
 * Records the end before it frees resources, so that clients do not wait for that. After a crash the next loop frees
 * them.
 */
async function conclude(parts: StepParts, row: SandboxRow, step: StepOf<'conclude'>): Promise<void> {
  const { state, reason, exit } = step;
  const kept = await parts.data.conclude(row.value);
  recordEnd(parts, row, { state, reason, kept }, exit);
  crashPoint('conclude:recorded');
  // If the sandbox is being removed, the next step clears it.
  if (exit && row.value.spec.desired !== 'removed')
    await parts.engineOf(row.value).stop(row.id, row.value.status.handle, 0);
}

async function clear(parts: StepParts, row: SandboxRow): Promise<void> {
  const { id, value } = row;
  if (value.spec.attempt > value.status.attempt) await keepOutput(parts, row);
  crashPoint('clear:kept');
  await parts.engineOf(value).remove(id, value.status.handle);
}

async function keepOutput({ engineOf, data }: StepParts, { id, value }: SandboxRow): Promise<void> {
  await data.keepOutput(value, engineOf(value).logs(id, { follow: false, tail: null }));
}

async function forget(parts: StepParts, row: SandboxRow): Promise<void> {
  const { store, data, now } = parts;
  await removeFromEngine(parts, row).catch((error: unknown) => {
    if (!isFault(error, 'unavailable') || !isGivenUp(row.value)) throw error;
  });
  await data.release(row.value);
  crashPoint('forget:folder');
  const event = { at: now(), type: 'sandbox.removed', subject: row.id, data: { name: row.name, user: row.owner } };
  // The request for the removal is already on disk: after a power cut this step is only repeated.
  store.remove(row, event, { lazy: true });
}

/**
 * A lost sandbox may have left resources in the engine although it is absent; so may a visit that a crash interrupted.
 */
async function removeFromEngine({ engineOf }: StepParts, { id, value }: SandboxRow): Promise<void> {
  const engine = engineOf(value);
  await engine.remove(id, value.status.handle);
  const visit = visitId(id);
  // `list` is not used: it would read the names of all sandboxes for each removal.
  if ((await engine.inspect(visit, null)).kind !== 'absent') await engine.remove(visit, null);
}

/** Whether the sandbox is removed before it was ever launched. */
export function isGivenUp({ spec, status }: Sandbox): boolean {
  return status.handle === null && spec.desired === 'removed';
}

function recordStart(parts: StepParts, row: SandboxRow, { handle, runtime, advisory }: Started): void {
  const now = { state: 'running', handle, runtime, advisory, startedAt: parts.now() } as const;
  save(parts, row, { ...row.value.status, ...now }, 'sandbox.started', { lazy: true });
  // The command already runs, and its first output must not wait for the disk. After a power cut in these milliseconds
  // the record says that the command never began. The next durable write reports an error of the disk, ignoring.
  parts.store.flushed().catch(() => {});
}

function recordTrouble(parts: StepParts, row: SandboxRow, trouble: Trouble | null): void {
  const type = trouble === null ? 'sandbox.recovered' : `sandbox.${trouble.replace(' ', '_')}`;
  save(parts, row, { ...row.value.status, reason: trouble }, type);
}

type End = Partial<SandboxStatus> & Pick<SandboxStatus, 'state'>;

function recordEnd(parts: StepParts, row: SandboxRow, end: End, exit: Exit | null): void {
  const { exitCode = null, signal = null } = exit ?? {};
  const status = { ...row.value.status, ...end, exitCode, signal, finishedAt: parts.now() };
  // If the sandbox is being removed, its end need not survive a power cut.
  save(parts, row, status, `sandbox.${end.state}`, { lazy: row.value.spec.desired === 'removed' });
}

function save(
  parts: StepParts,
  row: SandboxRow,
  status: SandboxStatus,
  type: string,
  options: WriteOptions = {},
): void {
  const { state, reason, exitCode } = status;
  const data = { name: row.name, user: row.owner, state, reason, exitCode };
  parts.store.update(row, withStatus(row.value, status), { at: parts.now(), type, subject: row.id, data }, options);
}
