/**
 * The gates that a user always allows for a project. They are kept in the store: nothing in the project, which agents
 * can write, can add to them.
 */
import { randomBytes } from 'node:crypto';
import type { Kernel } from '../../../kernel/kernel.ts';
import { type GateKind, gateKinds } from '../model/change.ts';

export interface AllowanceParts extends Pick<Kernel, 'store' | 'now'> {
  readonly owner: string;
}

export function alwaysAllowed({ store, owner }: AllowanceParts, project: string): readonly GateKind[] {
  return store.find('allowance', owner, project)?.value.kinds ?? [];
}

export function allowAlways(parts: AllowanceParts, project: string, kinds: readonly GateKind[]): void {
  change(parts, project, (kind, before) => before || kinds.includes(kind));
}

export function askAgain(parts: AllowanceParts, project: string, kinds: readonly GateKind[]): void {
  change(parts, project, (kind, before) => before && !kinds.includes(kind));
}

function change(parts: AllowanceParts, project: string, keep: (kind: GateKind, before: boolean) => boolean): void {
  const { store, owner, now } = parts;
  const row = store.find('allowance', owner, project);
  const before = row?.value.kinds ?? [];
  const kinds = gateKinds.filter((kind) => keep(kind, before.includes(kind)));
  if (kinds.length === before.length) return;
  const id = row?.id ?? randomBytes(8).toString('hex');
  const event = { at: now(), type: 'project.allowed', subject: id, data: { project, user: owner, kinds } };
  if (row === null) store.insert({ kind: 'allowance', id, owner, name: project, value: { project, kinds } }, event);
  else if (kinds.length === 0) store.remove(row, event);
  else store.update(row, { project, kinds }, event);
}
