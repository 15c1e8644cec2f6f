/** Which sandboxes a consumer is or has: those of a project are its spoke and every sandbox that works on its folder. */

import type { Row, Store } from '../../../kernel/store/store.ts';
import { spokeName } from '../../project/model/project.ts';
import { type Consumer, consumerText } from '../model.ts';

/** A sandbox that exists or is to be created. */
export interface SandboxKey {
  readonly name: string | undefined;
  /** The folder of the host that it works on; null or absent: none. */
  readonly project?: string | null | undefined;
}

function isOf(store: Store, owner: string, { kind, name }: Consumer, sandbox: SandboxKey): boolean {
  if (kind === 'sandbox') return sandbox.name === name;
  if (kind !== 'project') return false;
  if (sandbox.name === spokeName(name)) return true;
  const folder = store.find('project', owner, name)?.value.folder;
  return Boolean(folder) && sandbox.project === folder;
}

/** A consumer that names the sandbox itself takes precedence over one that names its project. */
export function consumerOf(
  store: Store,
  owner: string,
  consumers: readonly Consumer[],
  sandbox: SandboxKey,
): Consumer | null {
  const all = consumers.filter((one) => isOf(store, owner, one, sandbox));
  return all.find(({ kind }) => kind === 'sandbox') ?? all[0] ?? null;
}

/** The sandboxes of a consumer, without those that another consumer of the share names itself. */
export function sandboxesOf(
  store: Store,
  owner: string,
  consumers: readonly Consumer[],
  consumer: Consumer,
): Row<'sandbox'>[] {
  const text = consumerText(consumer);
  return store.list('sandbox', owner).filter((row) => {
    const found = consumerOf(store, owner, consumers, keyOf(row));
    return found !== null && consumerText(found) === text;
  });
}

export function keyOf({ name, value }: Row<'sandbox'>): SandboxKey {
  return { name, project: value.spec.project };
}
