/**
 * The users of an installation: its owner, and the users whom the owner adds.
 *
 * A user is added with a token, which is shown once and kept as a hash, and gets a range of host ids. A user without
 * sandboxes can be removed: the token is void and open connections are closed; the record and its range of ids stay for
 * a user who is added again under that name. Only the owner adds, removes, and acts as other users. The owner cannot be removed.
 */
import { z } from 'zod';
import { declare, definedDetail, named } from '../../../kernel/server/route.ts';
import { path, section } from '../../../kernel/settings/section.ts';
import { requireOwner } from '../../../model/user.ts';
import * as shape from '../api.ts';
import type { Users } from './users.ts';

export interface UserScope {
  readonly users: Users;
}

const { noun, route } = declare<UserScope>();

/** Section `share` of config.yaml: where other users connect. */
const userConfig = [
  section('share', {
    schema: z
      .strictObject({
        socket: path.meta({
          description: 'A socket for users with a token. Default: none.',
          examples: ['/run/carrel/shared.sock'],
        }),
      })
      .optional()
      .describe('Access for other users of the machine (`carrel user add`).'),
    read: (content) => ({ sharedSocket: content?.socket ?? null }),
    atStart: { sharedSocket: 'share.socket' },
  }),
] as const;

export const user = noun({
  config: userConfig,
  routes: [
    route('GET /v1/users', {
      id: 'listUsers',
      summary: 'The users: the owner sees all, other users see only themselves',
      answer: z.array(shape.userView),
      act: null,
      handle: async ({ actor, scope }) => scope.users.list(actor),
    }),
    route('POST /v1/users', {
      id: 'addUser',
      summary: 'Add a user; the token is shown only in this answer',
      body: z.strictObject({ name: z.string().min(1).max(32), uid: z.int().min(0).max(0xffff_fffe).optional() }),
      answer: shape.admission,
      usesSettings: true,
      act: ({ body: { name, uid } }) => ({
        verb: 'user.add',
        names: [name],
        words: { 'the name': [name] },
        detail: definedDetail({ uid }),
      }),
      handle: async ({ actor, scope, body }) => {
        requireOwner(actor);
        return scope.users.add(body.name, body.uid ?? null);
      },
    }),
    route('POST /v1/users/token', {
      id: 'renewToken',
      summary: 'Replace a token: one’s own, or that of any user for the owner',
      /** Without a name: the caller's own token. */
      body: z.strictObject({ name: z.string().min(1).max(32).optional() }),
      answer: shape.admission,
      act: ({ body: { name } }) => ({ verb: 'user.token', names: name === undefined ? [] : [name] }),
      done: ({ user }) => ({ targets: [{ name: user.name }] }),
      handle: async ({ actor, scope, body }) => scope.users.renewToken(actor, body.name ?? actor.name),
    }),
    route('DELETE /v1/users/{name}', {
      id: 'removeUser',
      summary: 'Remove a user; the token is refused from then on',
      answer: shape.userView,
      act: named('user.remove', true),
      handle: async ({ actor, scope, name }) => {
        requireOwner(actor);
        return scope.users.remove(name);
      },
    }),
  ],
});
