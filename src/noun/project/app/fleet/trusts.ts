/** Which grants of which `carrel.yaml` a user has trusted. */
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import type { Kernel } from '../../../../kernel/kernel.ts';
import type { Row, Store } from '../../../../kernel/store/store.ts';
import { validated } from '../../../../lib/schema/validated.ts';
import { Fault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';
import type { TrustView } from '../../api/fleet.ts';
import { grantsOf } from '../../fleet/grants.ts';
import { type Trust, trustName } from '../../model/fleet-trust.ts';
import { projectSchema } from '../project-file.ts';
import { outsideTargetOf } from './outside-target.ts';

export type TrustParts = Pick<Kernel, 'store' | 'now'>;

export interface TrustRequest {
  readonly file: string;
  readonly content: unknown;
}

const maxPerUser = 10_000;

export class Trusts {
  readonly #user: string;
  readonly #parts: TrustParts;

  constructor(user: string, parts: TrustParts) {
    this.#user = user;
    this.#parts = parts;
  }

  /** The grants of the file, and those that are not trusted yet. */
  show({ file, content }: TrustRequest): TrustView {
    const folder = dirname(file);
    const place = { folder, outsideTarget: (path: string) => outsideTargetOf(folder, path) };
    const grants = grantsOf(validated(projectSchema, content, 'content'), place);
    return { file, grants, added: this.#missing(file, grants) };
  }

  /** Records that the file may give exactly these grants. */
  trust(request: TrustRequest): TrustView {
    const view = this.show(request);
    const { store, now } = this.#parts;
    const value: Trust = { file: view.file, grants: view.grants, trustedAt: now() };
    const event = { at: value.trustedAt, type: 'file.trusted', subject: view.file, data: { user: this.#user } };
    const row = this.#find(view.file);
    if (row) store.update(row, value, event);
    else this.#insert(value, event);
    return view;
  }

  /** The file may have been changed or removed meanwhile. Sandboxes keep what they have. */
  revoke(file: string): { readonly file: string } {
    const row = this.#find(file);
    if (row === null) throw new Fault('not_found', `${printable(file)} is not trusted`);
    const event = { at: this.#parts.now(), type: 'file.untrusted', subject: file, data: { user: this.#user } };
    this.#parts.store.remove(row, event);
    return { file };
  }

  /** Refuses grants that were not trusted, with the difference. */
  require(file: string, grants: readonly string[]): void {
    const added = this.#missing(file, grants);
    if (added.length === 0) return;
    const lines = added.map((grant) => `+ ${grant}`);
    throw new Fault('denied', `${file} gives sandboxes what was not trusted yet:\n${lines.join('\n')}`, {
      hint: `Look at it, then: carrel trust ${file}`,
      data: { trust: { file, added } },
    });
  }

  #missing(file: string, grants: readonly string[]): string[] {
    const trusted = new Set(this.#find(file)?.value.grants);
    return grants.filter((grant) => !trusted.has(grant));
  }

  #find(file: string): Row<'trust'> | null {
    return this.#parts.store.find('trust', this.#user, trustName(file));
  }

  #insert(value: Trust, event: Parameters<Store['insert']>[1]): void {
    const { store } = this.#parts;
    if (store.count('trust', this.#user) >= maxPerUser) {
      throw new Fault('exhausted', `${maxPerUser} files are trusted already`, {
        hint: 'Revoke the trust of one with: carrel trust --rm FILE',
      });
    }
    const id = randomBytes(8).toString('hex');
    store.insert({ kind: 'trust', id, owner: this.#user, name: trustName(value.file), value }, event);
  }
}
