/** The credentials of users, and the sandboxes that were given some. */
import { randomBytes } from 'node:crypto';
import type { Kernel } from '../../../../kernel/kernel.ts';
import type { Row, Store } from '../../../../kernel/store/store.ts';
import { Fault, isFault } from '../../../../model/fault.ts';
import type { Actor } from '../../../../model/user.ts';
import type { Secrets } from '../../../user/secret/secret.ts';
import type { CredentialView } from '../../api/credential.ts';
import {
  type Credential,
  type CredentialGrant,
  type CredentialRequest,
  type CredentialService,
  checkCredentialName,
  checkTogether,
  headerValue,
  type PresetName,
  servicesOf,
  serviceText,
} from '../../model/credential.ts';
import { ruleClass } from '../../model/network.ts';

export interface CredentialParts extends Pick<Kernel, 'store' | 'now'> {
  readonly secrets: Pick<Secrets, 'read'>;
}

const maxPerUser = 100;

export class UserCredentials {
  readonly #parts: CredentialParts;
  readonly #actor: Actor;

  constructor(actor: Actor, parts: CredentialParts) {
    this.#actor = actor;
    this.#parts = parts;
  }

  get #user(): string {
    return this.#actor.name;
  }

  list(): CredentialView[] {
    return credentialsOf(this.#parts.store, this.#user).map(viewOf);
  }

  /** Refuses a name that exists: the credential must not change under the sandboxes that have it. */
  add(request: CredentialRequest): CredentialView {
    const { store, secrets, now } = this.#parts;
    const name = checkCredentialName(request.name);
    const services = servicesOf(request);
    if (!this.#actor.isOwner) services.forEach(checkPublic);
    for (const service of services) headerValue(service, request.secret, secrets.read(this.#user, request.secret));
    if (this.list().length >= maxPerUser)
      throw new Fault('exhausted', `there are ${maxPerUser} credentials already`, {
        hint: 'Remove one with: carrel credential rm NAME',
      });
    const at = now();
    const value: Credential = { name, preset: request.preset ?? null, secret: request.secret, services, createdAt: at };
    const event = { at, type: 'credential.added', subject: name, data: { name, user: this.#user } };
    try {
      const id = randomBytes(8).toString('hex');
      store.insert({ kind: 'credential', id, owner: this.#user, name, value }, event);
    } catch (error) {
      if (!isFault(error, 'conflict')) throw error;
      throw new Fault('conflict', `a credential ${name} exists already`, {
        hint: `Choose another name, or: carrel credential rm ${name}`,
      });
    }
    return viewOf(value);
  }

  /** Adds a credential for the service of a preset, under the first free name. */
  addFor(preset: PresetName, secret: string): CredentialView {
    const taken = new Set(this.list().map(({ name }) => name));
    let name: string = preset;
    for (let number = 2; taken.has(name); number++) name = `${preset}-${number}`;
    return this.add({ name, preset, secret });
  }

  remove(name: string): CredentialView {
    const { store, now } = this.#parts;
    const row = this.#find(name);
    const holders = store
      .list('sandbox')
      .filter(({ owner, value }) => owner === this.#user && value.spec.credentials?.some((one) => one.name === name))
      .map((sandbox) => sandbox.name);
    if (holders.length > 0) {
      throw new Fault('conflict', `the credential ${name} is used by ${holders.join(', ')}`, {
        hint: `Remove these sandboxes first: carrel rm ${holders.join(' ')}`,
      });
    }
    store.remove(row, { at: now(), type: 'credential.removed', subject: name, data: { name, user: this.#user } });
    return viewOf(row.value);
  }

  /** What the record of a sandbox keeps of these credentials. */
  grants(names: readonly string[]): CredentialGrant[] {
    const credentials = [...new Set(names)].map((name) => this.#find(name).value);
    checkTogether(credentials);
    return credentials.map(({ name, preset }) => ({ name, preset }));
  }

  #find(name: string): Row<'credential'> {
    const row = this.#parts.store.find('credential', this.#user, checkCredentialName(name));
    if (row !== null) return row;
    throw new Fault('not_found', `no credential ${name}`, { hint: 'See: carrel credential ls' });
  }
}

/** Only the owner may name an address of this machine or of a private network. */
function checkPublic(service: CredentialService): void {
  const kind = ruleClass(serviceText(service));
  if (kind !== null) throw new Fault('denied', `only the owner of this installation may name a ${kind} address`);
}

export function credentialsOf(store: Store, user: string): Credential[] {
  return store.list('credential', user).map(({ value }) => value);
}

function viewOf({ name, preset, secret, services, createdAt }: Credential): CredentialView {
  const shown = services.map(({ host, port, scheme, header, format }) => ({
    ...{ host, port, header, format },
    ...(scheme === undefined ? {} : { scheme }),
  }));
  return { name, preset, secret, services: shown, createdAt };
}
