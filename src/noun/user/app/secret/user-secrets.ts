/** The secrets of users, and the sandboxes that were given some. */

import type { Kernel } from '../../../../kernel/kernel.ts';
import { Fault } from '../../../../model/fault.ts';
import { type Credential, headerValue } from '../../../network/model/credential.ts';
import { hasEnded, type SpecTexts } from '../../../sandbox/model.ts';
import type { SecretView } from '../../api/secret.ts';
import type { SandboxSecrets, Secrets } from '../../secret/secret.ts';

export interface SecretParts extends Pick<Kernel, 'store' | 'now'> {
  readonly secrets: Secrets;
  readonly sandboxSecrets: SandboxSecrets;
  /** Called for a sandbox with a credential whose key has changed. */
  readonly refresh: (id: string) => Promise<void>;
}

export class UserSecrets {
  readonly #parts: SecretParts;
  readonly #user: string;

  constructor(user: string, parts: SecretParts) {
    this.#user = user;
    this.#parts = parts;
  }

  /** Removes the values that earlier daemons put into memory for sandboxes that have ended. For all users. */
  recover(): void {
    const { store, sandboxSecrets } = this.#parts;
    sandboxSecrets.sweep((id) => {
      const sandbox = store.get('sandbox', id)?.value;
      return sandbox !== undefined && !hasEnded(sandbox.status);
    });
  }

  list(): SecretView[] {
    return this.#parts.secrets.list(this.#user);
  }

  /** Running sandboxes get the new value at once, also those with a credential that carries it. */
  async set(name: string, value: Buffer): Promise<SecretView> {
    const { secrets, sandboxSecrets, refresh } = this.#parts;
    const credentials = this.#credentials(name);
    for (const { services } of credentials) for (const service of services) headerValue(service, name, value);
    secrets.set(this.#user, name, value);
    for (const { id, value: sandbox } of this.#holders(name)) {
      if (sandbox.status.state === 'running') sandboxSecrets.rotate(id, name, value);
    }
    await Promise.all(this.#users(credentials).map(refresh));
    return this.#find(name);
  }

  remove(name: string): SecretView {
    const view = this.#find(name);
    const holders = this.#holders(name).map((row) => row.name);
    if (holders.length > 0) {
      throw new Fault('conflict', `the secret ${name} is granted to ${holders.join(', ')}`, {
        hint: `Remove these sandboxes first: carrel rm ${holders.join(' ')}`,
      });
    }
    const used = this.#credentials(name).map((credential) => credential.name);
    if (used.length > 0) {
      throw new Fault('conflict', `the secret ${name} is used by the credential ${used.join(', ')}`, {
        hint: `Remove it first: carrel credential rm ${used[0]}`,
      });
    }
    this.#parts.secrets.remove(this.#user, name);
    return view;
  }

  #find(name: string): SecretView {
    const view = this.list().find((secret) => secret.name === name);
    if (!view) throw new Fault('not_found', `no secret ${name}`, { hint: 'See: carrel secret ls' });
    return view;
  }

  #credentials(name: string): Credential[] {
    const rows = this.#parts.store.list('credential', this.#user);
    return rows.map(({ value }) => value).filter(({ secret }) => secret === name);
  }

  /** Ids of sandboxes that have one of these credentials. */
  #users(credentials: readonly Credential[]): string[] {
    const names = new Set(credentials.map(({ name }) => name));
    const rows = this.#sandboxes().filter(({ value }) => value.spec.credentials?.some(({ name }) => names.has(name)));
    return rows.map(({ id }) => id);
  }

  #sandboxes() {
    return this.#parts.store.list('sandbox', this.#user);
  }

  #holders(name: string) {
    return this.#sandboxes().filter(({ value }) => value.spec.secrets?.includes(name));
  }

  /** Refuses values of secrets in a spec, because all of it is stored, shown and passed to programs. */
  refuseIn(spec: SpecTexts): void {
    for (const name of spec.secrets ?? []) this.#find(name);
    this.#refuseName(spec.name ?? '');
    const places: [string, readonly string[]][] = [
      ['--env', Object.values(spec.env)],
      ['the command', spec.command],
      ['--label', Object.entries(spec.labels).flat()],
      ['--network', spec.network?.allow ?? []],
      ['--volume', (spec.volumes ?? []).map(({ target }) => target)],
    ];
    for (const [where, texts] of places) this.refuseText(where, ...texts);
  }

  /** Throws `invalid`, because invalid names are not logged. */
  #refuseName(text: string): void {
    const name = this.#parts.secrets.containing(this.#user, text);
    if (name === null) return;
    throw new Fault('invalid', `--name is the value of the secret ${name}`, { hint: 'Choose another name.' });
  }

  /** Refuses values of secrets in any text that is stored or shown. */
  refuseText(where: string, ...texts: readonly string[]): void {
    const name = this.#parts.secrets.containing(this.#user, ...texts);
    if (name === null) return;
    throw new Fault('denied', `${where} carries the value of the secret ${name}`, {
      hint: `Give it as a file instead: --secret ${name} puts it at /run/secrets/${name}.`,
    });
  }
}
