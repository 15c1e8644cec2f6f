/**
 * The credentials of a user: each names a secret and the host whose requests get it as a header. They are added, granted to
 * sandboxes, and removed. A view never has the value, and no sandbox gets it: the proxy has it, in memory
 * (`supply.ts`, and `noun/network/credential/credential.ts` for the promises).
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { declare, definedDetail, named } from '../../../../kernel/server/route.ts';
import { path, section } from '../../../../kernel/settings/section.ts';
import { Fault } from '../../../../model/fault.ts';
import * as shape from '../../api/credential.ts';
import type { UserCredentials } from './user-credentials.ts';

export interface CredentialScope {
  readonly credentials: UserCredentials;
}

/** Section `authorities` of config.yaml: certificates that are trusted for the hosts of credentials. */
const credentialConfig = [
  section('authorities', {
    schema: z
      .array(path)
      .max(100)
      .optional()
      .meta({
        description:
          'Files with certificates in PEM that are trusted for the hosts of credentials, besides the well-known authorities.',
        default: [],
        examples: [['/etc/ssl/company-ca.pem']],
      }),
    /** The certificates, in PEM. */
    read: (files, at): { authorities: readonly string[] } => ({
      authorities: at('authorities', () => (files ?? []).map(readAuthority)),
    }),
  }),
] as const;

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

function readAuthority(file: string): string {
  try {
    const text = readFileSync(file, 'utf8');
    new X509Certificate(text);
    return text;
  } catch (error) {
    throw new Fault('invalid', `authorities: ${file} has no certificate: ${(error as Error).message}`, {
      hint: 'Name a file with certificates in PEM.',
      cause: error,
    });
  }
}
