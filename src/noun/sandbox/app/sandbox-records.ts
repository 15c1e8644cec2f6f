/** Records of new sandboxes. A name is unique among the sandboxes of a user. */

import type { Row, Store, WriteOptions } from '../../../kernel/store/store.ts';
import type { NewEvent } from '../../../model/event.ts';
import { Fault, isFault } from '../../../model/fault.ts';
import { hasEnded, type Sandbox } from '../model.ts';
import type { Unapplied } from '../part/part.ts';
import type { SandboxNames } from '../sandbox.ts';
import { suggestName } from './suggest-name.ts';

const maxSandboxes = 10_000;

export function requireRoom(store: Store): void {
  if (store.count('sandbox') < maxSandboxes) return;
  throw new Fault('exhausted', `there are ${maxSandboxes} sandboxes already`, {
    hint: 'Remove some with: carrel rm NAME',
  });
}

/** The records of a user. */
export class SandboxRecords implements SandboxNames {
  readonly #store: Store;
  readonly #owner: string;

  constructor(store: Store, owner: string) {
    this.#store = store;
    this.#owner = owner;
  }

  withId(id: string): Row<'sandbox'> | null {
    const row = this.#store.get('sandbox', id);
    return row?.owner === this.#owner ? row : null;
  }

  freeName(): string {
    return suggestName((name) => this.#isTaken(name));
  }

  refuseTaken(name: string): void {
    if (this.#isTaken(name)) throw nameTaken(name);
  }

  insert(value: Sandbox, event: NewEvent, options?: WriteOptions): Row<'sandbox'> {
    const { id, name } = value;
    try {
      return this.#store.insert({ kind: 'sandbox', id, owner: this.#owner, name, value }, event, options);
    } catch (error) {
      throw isFault(error, 'conflict') ? nameTaken(name) : error;
    }
  }

  #isTaken(name: string): boolean {
    return this.#store.find('sandbox', this.#owner, name) !== null;
  }
}

function nameTaken(name: string): Fault {
  return new Fault('conflict', `a sandbox ${name} exists already`, {
    hint: `Choose another name, or: carrel rm ${name}`,
  });
}

/** Whether the sandbox is gone or about to be removed. */
export function isLeaving(store: Store, id: string): boolean {
  const row = store.get('sandbox', id);
  return row === null || row.value.spec.desired === 'removed';
}

/** Records that a command of `exec` was killed for lack of memory. The sandbox goes on. */
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

/** Why a sandbox with this work is not removed. */
export function wouldLose(name: string, lost: Unapplied): Fault {
  const give = `give them up: carrel rm --force ${name}`;
  return lost === 'commits'
    ? new Fault('conflict', `${name} has commits that were not fetched`, {
        hint: `fetch them:   carrel apply ${name}\n${give}`,
      })
    : new Fault('conflict', `${name} has changes that were not applied`, {
        hint: `see them:     carrel diff ${name}\ntake them:    carrel apply ${name}\n${give}`,
      });
}
