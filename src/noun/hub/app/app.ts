/**
 * The hub of a user: tools over their projects, for MCP clients and for the command line. `noun/hub/hub.ts` has the promises of
 * a tool.
 *
 * A call: the caller is checked → the project's spoke is started, if the tool needs it and it does not run (`spoke/spoke.ts`) →
 * the tool runs → the answer. Spokes and environments are sandboxes of the user; a spoke that no call uses is stopped.
 *
 * Promises:
 * - The caller is checked on every call, whatever the connection offered before. A project that the caller may not name is
 *   answered like one that does not exist.
 * - A call that changes something is in the audit log before it is answered; a post is in its room.
 * - An edit in several projects is applied in all of them or in none, also after a crash (`edits.ts`).
 * - A token is shown once, and the record has only what it grants. A revoked one ends its sessions and running calls.
 * - An environment reaches no host beyond those that the user allows for its project. A sandbox with secrets, credentials,
 *   volumes, rooms or memory is no environment, so no tool reaches it.
 */
import { z } from 'zod';
import { declare, definedDetail, named } from '../../../kernel/server/route.ts';
import type { Store } from '../../../kernel/store/store.ts';
import { validated } from '../../../lib/schema/validated.ts';
import { asFault, type Fault } from '../../../model/fault.ts';
import * as shape from '../api.ts';
import { type HubCaller, socketCaller } from '../hub.ts';
import { hubConfig } from './config.ts';
import type { HubTokens } from './hub-tokens.ts';
import type { UserHub } from './user-hub.ts';

export interface HubScope {
  readonly hub: UserHub;
  /** The hub of any user. */
  readonly hubOf: (user: string) => Pick<UserHub, 'settle'>;
  readonly store: Pick<Store, 'list'>;
  readonly report: (subject: string, fault: Fault) => void;
  readonly hubTokens: HubTokens;
  readonly projects: { find(id: string): unknown };
}

const { noun, route } = declare<HubScope>();

export const hub = noun({
  config: hubConfig,
  routes: [
    route('GET /v1/hub/tools', {
      id: 'listTools',
      summary: 'The tools of the hub, with their schemas',
      answer: z.array(shape.toolView),
      act: null,
      handle: async ({ scope }) => scope.hub.tools(),
    }),
    route('POST /v1/hub/call', {
      usesSettings: true,
      id: 'callTool',
      summary: 'Call a tool of the hub',
      body: shape.callRequest,
      answer: shape.callResult,
      act: null,
      handle: ({ scope, body, signal }) => scope.hub.callByName(body.tool, body.input ?? {}, signal),
    }),
    route('GET /v1/hub/connect', {
      usesSettings: true,
      id: 'connectHub',
      summary: 'MCP in lines of JSON, in frames of stdin and stdout',
      query: shape.connectQuery,
      answer: 'upgrade',
      act: () => ({ verb: 'hub.connect', names: [] }),
      handle: async ({ scope, query, accept, openAct }) => {
        const caller = narrowed(scope, query);
        openAct.end('ok');
        await scope.hub.serve(accept(), caller);
      },
    }),
    route('GET /v1/hub/tokens', {
      id: 'listHubTokens',
      summary: 'Tokens for the hub: what each grants, never the token',
      answer: z.array(shape.tokenView),
      act: null,
      handle: async ({ actor, scope }) => scope.hubTokens.list(actor.name),
    }),
    route('POST /v1/hub/tokens', {
      id: 'createHubToken',
      summary: 'Make a token for the hub; it is shown only in this answer',
      body: shape.tokenRequest,
      answer: shape.newToken,
      act: () => ({ verb: 'token.create', names: [] }),
      done: ({ id, projects, groups, expiresAt }) => ({
        targets: [{ name: id }],
        detail: definedDetail({ projects, groups, expiresAt }),
      }),
      handle: async ({ actor, scope, body }) => {
        if (body.projects !== '*') for (const id of body.projects) scope.projects.find(id);
        return scope.hubTokens.create(actor.name, body);
      },
    }),
    route('DELETE /v1/hub/tokens/{name}', {
      id: 'removeHubToken',
      summary: 'Revoke a token, also for sessions that are open',
      answer: shape.tokenView,
      act: named('token.remove', true),
      handle: async ({ actor, scope, name }) => scope.hubTokens.remove(actor.name, name),
    }),
    route('DELETE /v1/hub/tokens', {
      id: 'removeHubTokens',
      summary: 'Revoke all tokens and replace the key that signs them',
      answer: z.array(shape.tokenView),
      act: () => ({ verb: 'token.remove', names: [], frees: true }),
      done: (removed) => ({ targets: removed.map(({ id }) => ({ name: id })) }),
      handle: async ({ actor, scope }) => scope.hubTokens.removeAll(actor.name),
    }),
  ],
  start: settleEdits,
});

/** The user as a caller, with the projects and the groups of tools that the query names, if any. */
function narrowed({ projects }: HubScope, { projects: ids, groups }: z.output<typeof shape.connectQuery>): HubCaller {
  const named = ids?.split(',') ?? [];
  for (const id of named) projects.find(id);
  return {
    ...socketCaller,
    ...(ids === undefined ? {} : { projects: named }),
    ...(groups === undefined ? {} : { groups: validated(shape.groups, groups.split(','), 'query.groups') }),
  };
}

/** For every user, reverses or finishes the edits that an earlier daemon left. */
function settleEdits({ store, hubOf, report }: HubScope): void {
  for (const user of new Set(store.list('edit').map(({ owner }) => owner)))
    void hubOf(user).settle((project, error) => report(`edit of project ${project}`, asFault(error)));
}
