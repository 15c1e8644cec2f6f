/**
 * The credentials of a user: each names a secret and the host whose requests get it as a header. They are added, granted to
 * sandboxes, and removed. A view never has the value, and no sandbox gets it: the proxy has it, in memory
 * (`supply.ts`, and `noun/network/credential/credential.ts` for the promises).
 */
import { z } from 'zod';
import { declare, definedDetail, named } from '../../../../kernel/server/route.ts';
import * as shape from '../../api/credential.ts';
import { credentialConfig } from './config.ts';
import type { UserCredentials } from './credentials.ts';

export interface CredentialScope {
  readonly credentials: UserCredentials;
}

const { noun, route } = declare<CredentialScope>();

export const credential = noun({
  config: credentialConfig,
  routes: [
    route('GET /v1/credentials', {
      id: 'listCredentials',
      summary: 'Credentials: their services and the names of their secrets, never the values',
      answer: z.array(shape.credentialView),
      act: null,
      handle: async ({ scope }) => scope.credentials.list(),
    }),
    route('POST /v1/credentials', {
      id: 'addCredential',
      summary: 'Add a credential: a secret that is put into requests to a service outside of the sandbox',
      body: shape.credentialRequest,
      answer: shape.credentialView,
      act: ({ body: { name, host, header, format } }) => ({
        verb: 'credential.add',
        names: [name],
        words: { 'the name': [name], '--host': [host], '--header': [header], '--format': [format] },
        detail: definedDetail({ host }),
      }),
      handle: async ({ scope, body }) => scope.credentials.add(body),
    }),
    route('DELETE /v1/credentials/{name}', {
      id: 'removeCredential',
      summary: 'Remove a credential that no sandbox has',
      answer: shape.credentialView,
      act: named('credential.remove', true),
      handle: async ({ scope, name }) => scope.credentials.remove(name),
    }),
  ],
});
