/** Records of new sandboxes, each under a name that none of their owner has. */
import type { NewEvent } from '../../model/event.ts';
import { Fault, isFault } from '../../model/fault.ts';
import { hasEnded, type Sandbox } from '../../model/sandbox.ts';
import type { Row, Store } from '../../store/store.ts';
import { suggestName } from './suggest-name.ts';

export interface Removal {
  /** Whether it runs or has changes that are not applied. */
  readonly force?: boolean | undefined;
  /** Also if it runs, but not if it has changes that are not applied. */
  readonly running?: boolean | undefined;
  /** Only if it ended so long ago, forced or not. */
  readonly staleMs?: number | undefined;
  readonly dryRun?: boolean | undefined;
  /** Only the sandbox with this id, even if another one has the name by now. */
  readonly id?: string | undefined;
}

const maxSandboxes = 10_000;

export function requireRoom(store: Store): void {
  if (store.count('sandbox') < maxSandboxes) return;
  throw new Fault('exhausted', `there are ${maxSandboxes} sandboxes already`, {
    hint: 'Remove some with: carrel rm NAME',
  });
}

export function freeName(store: Store, owner: string): string {
  return suggestName((name) => store.find('sandbox', owner, name) !== null);
}

export function refuseTaken(store: Store, owner: string, name: string): void {
  if (store.find('sandbox', owner, name) !== null) throw nameTaken(name);
}

export function insertSandbox(store: Store, owner: string, value: Sandbox, event: NewEvent): Row<'sandbox'> {
  const { id, name } = value;
  try {
    return store.insert({ kind: 'sandbox', id, owner, name, value }, event);
  } catch (error) {
    throw isFault(error, 'conflict') ? nameTaken(name) : error;
  }
}

function nameTaken(name: string): Fault {
  return new Fault('conflict', `a sandbox ${name} exists already`, {
    hint: `Choose another name, or: carrel rm ${name}`,
  });
}

/** Whether it is gone, or about to be. */
export function isLeaving(store: Store, id: string): boolean {
  const row = store.get('sandbox', id);
  return row === null || row.value.spec.desired === 'removed';
}

/** Of a command that was brought into a sandbox and failed for want of memory. The sandbox goes on. */
export function noteMemoryKill(store: Store, id: string, program: string): void {
  const row = store.get('sandbox', id);
  if (row === null) return;
  const data = { name: row.name, user: row.owner, program };
  store.update(row, row.value, { at: new Date().toISOString(), type: 'sandbox.exec_oom', subject: id, data });
}

export function requireStartable({ name, value: { status, spec } }: Row<'sandbox'>): void {
  if (!hasEnded(status)) throw new Fault('conflict', `${name} is ${status.state} already`);
  if (spec.desired === 'removed') throw new Fault('conflict', `${name} is being removed`);
}
