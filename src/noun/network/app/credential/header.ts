/** The header with the key of a credential, for requests of the daemon itself. */

import type { Store } from '../../../../kernel/store/store.ts';
import { Fault } from '../../../../model/fault.ts';
import type { Secrets } from '../../../user/secret/secret.ts';
import { headerValue } from '../../model/credential.ts';
import { credentialsOf } from './user-credentials.ts';

interface Destination {
  readonly url: string;
  /** The name of a credential of the owner; null: no header. */
  readonly credential: string | null;
}

export interface HeaderParts {
  readonly store: Store;
  readonly owner: string;
  readonly secrets: Pick<Secrets, 'read'>;
}

/** Sends the key of a credential only to the host, port and scheme that the credential is for. */
export function credentialHeaders({ store, owner, secrets }: HeaderParts) {
  return ({ url, credential }: Destination): Readonly<Record<string, string>> => {
    if (credential === null) return {};
    const { hostname, port, protocol } = new URL(url);
    const isPlain = protocol === 'http:';
    const requestedPort = port === '' ? (isPlain ? 80 : 443) : Number(port);
    const found = credentialsOf(store, owner).find(({ name }) => name === credential);
    const service = found?.services.find(
      (one) => one.host === hostname && one.port === requestedPort && (one.scheme === 'http') === isPlain,
    );
    if (found === undefined || service === undefined) {
      throw new Fault('denied', `the credential ${credential} is not for ${url}`, {
        hint: 'See: carrel credential ls',
      });
    }
    return { [service.header]: headerValue(service, found.secret, secrets.read(owner, found.secret)) };
  };
}
