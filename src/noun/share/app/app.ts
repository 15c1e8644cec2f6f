/**
 * Folders of the host that several consumers see.
 *
 * Life cycle: added with its consumers → recorded → access is given → consumers are added → revoked from one consumer or
 * from all; the folder stays. Access that was recorded but not given, and a revocation that was cut short, are finished by
 * the next daemon.
 *
 * Promises:
 * - The state of each consumer is observed, not remembered (`observe.ts`); `verify` proves it by files in both directions.
 * - A revocation takes the mount from running sandboxes at once. A sandbox with open files of the share keeps it, and that
 *   revocation is refused, unless `force` stops the sandbox.
 * - Consumers outside of Carrel are for the owner: an account gets access only if it is named.
 */
import { z } from 'zod';
import { declare, definedDetail } from '../../../kernel/server/route.ts';
import type { VerdictView } from '../api.ts';
import * as shape from '../api.ts';
import { checkShareName } from '../model.ts';
import { render } from '../render.ts';
import { takenPoints } from './account.ts';
import type { Revocations } from './revocations.ts';
import type { Shares } from './shares.ts';

export interface ShareScope {
  readonly shares: Shares;
  readonly revocations: Revocations;
  readonly verifyShare: (name: string, consumer: string | undefined) => Promise<VerdictView[]>;
}

const { noun, route } = declare<ShareScope>();

export const share = noun({
  routes: [
    route('GET /v1/shares', {
      id: 'listShares',
      summary: 'Shares: which consumer sees which folder at which path, and whether it sees it now',
      answer: z.array(shape.shareView),
      act: null,
      handle: ({ scope }) => scope.shares.list(),
    }),
    route('POST /v1/shares', {
      id: 'addShare',
      summary: 'Share a folder of the host, or add consumers to a share',
      body: shape.addShareRequest,
      answer: shape.shareView,
      act: ({ body: { name, folder, consumers } }) => ({
        verb: 'share.add',
        names: [name],
        words: { 'the folder': [folder], '--at': consumers.flatMap((one) => [one.name, one.path ?? undefined]) },
        detail: definedDetail({ folder, consumers: consumers.map(({ kind, name: who }) => `${kind}:${who}`) }),
      }),
      handle: ({ scope, body }) => scope.shares.add(body),
    }),
    route('POST /v1/shares/{name}/revoke', {
      id: 'revokeShare',
      summary: 'Revoke a share from one consumer, or from all and remove it; the folder stays',
      body: shape.revokeRequest,
      answer: shape.revokeView,
      act: ({ name, body: { consumer, force = false } }) => ({
        verb: 'share.revoke',
        names: [name],
        words: { CONSUMER: [consumer] },
        detail: definedDetail({ consumer, force }),
        frees: true,
      }),
      handle: ({ scope, name, body }) => scope.revocations.revoke(checkShareName(name), body),
    }),
    route('POST /v1/shares/{name}/verify', {
      id: 'verifyShare',
      summary: 'Prove by files in both directions that each consumer sees the folder',
      body: shape.verifyRequest,
      answer: z.array(shape.verdictView),
      act: ({ name, body: { consumer } }) => ({
        verb: 'share.verify',
        names: [name],
        words: { CONSUMER: [consumer] },
        detail: definedDetail({ consumer }),
      }),
      handle: ({ scope, name, body }) => scope.verifyShare(checkShareName(name), body.consumer),
    }),
    route('GET /v1/shares/{name}/render', {
      id: 'renderShare',
      summary: 'The lines by which programs outside of Carrel mount a share',
      query: shape.renderQuery,
      answer: shape.renderView,
      act: null,
      handle: async ({ scope, name, query }) => {
        const text = render(scope.shares.find(checkShareName(name)), query.for, takenPoints);
        return { name, text };
      },
    }),
  ],
  recover: async ({ shares, revocations }) => {
    await shares.recover();
    await revocations.recover();
  },
  examine: async ({ shares }) => shares.examine(),
});
