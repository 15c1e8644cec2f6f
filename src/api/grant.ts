/** What `model/grant-table.ts` lists, in requests and in views of sandboxes. */
import { z } from 'zod';
import type { GrantField } from '../model/grant-table.ts';
import { scopeKinds } from '../model/memory.ts';
import { maxRooms } from '../model/room-grant.ts';
import { roomRequest } from './room-grant.ts';
import { shareRequest } from './share.ts';
import { volumeRequest } from './volume.ts';

const memoryGrant = z.strictObject({ scope: z.enum(scopeKinds), readonly: z.boolean() });

/** Also in requests for the sandboxes of agents and swarms. */
export const agentGrants = {
  volumes: z.array(volumeRequest).max(20).optional(),
  /** Rooms that it gets at /rooms/NAME. */
  rooms: z.array(roomRequest).max(maxRooms).optional(),
  /** Scopes of the memory that it reaches. */
  memoryScopes: z.array(memoryGrant).max(scopeKinds.length).optional(),
};
export const agentGrantFields = Object.keys(agentGrants) as (keyof typeof agentGrants)[];

export const grantRequests = {
  ...agentGrants,
  shares: z.array(shareRequest).max(20).optional(),
} satisfies Record<GrantField, z.ZodType>;

export const grantViews = {
  /** Folders of the host that it has in common with other consumers. */
  shares: z.array(z.strictObject({ name: z.string(), folder: z.string(), target: z.string(), readonly: z.boolean() })),
  rooms: z.array(z.strictObject({ name: z.string(), readonly: z.boolean() })),
  memoryScopes: z.array(memoryGrant),
};
