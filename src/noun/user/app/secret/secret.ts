/** The secrets of a user. */
import { z } from 'zod';
import { declare, named } from '../../../../kernel/server/route.ts';
import * as shape from '../../api/secret.ts';
import type { UserSecrets } from './user-secrets.ts';

export interface SecretScope {
  readonly secrets: UserSecrets;
}

const { noun, route } = declare<SecretScope>();

export const secret = noun({
  routes: [
    route('GET /v1/secrets', {
      id: 'listSecrets',
      summary: 'Names of secrets, never their values',
      answer: z.array(shape.secretView),
      act: null,
      handle: async ({ scope }) => scope.secrets.list(),
    }),
    route('POST /v1/secrets', {
      id: 'setSecret',
      summary: 'Store a secret or replace it; running sandboxes have the new value at once',
      body: z.strictObject({ name: shape.secretName, valueBase64: z.base64().min(1).max(1_500_000) }),
      answer: shape.secretView,
      act: ({ body }) => ({ verb: 'secret.set', names: [body.name] }),
      handle: async ({ scope, body }) => scope.secrets.set(body.name, Buffer.from(body.valueBase64, 'base64')),
    }),
    route('DELETE /v1/secrets/{name}', {
      id: 'removeSecret',
      summary: 'Remove a secret that no sandbox is granted',
      answer: shape.secretView,
      act: named('secret.remove', true),
      handle: async ({ scope, name }) => scope.secrets.remove(name),
    }),
  ],
  recover: async ({ secrets }) => secrets.recover(),
});
