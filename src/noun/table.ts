/** The grants of sandboxes that nouns offer. Other tables are derived from these. */
import { memoryGrantKind } from './memory/model/memory.ts';
import { roomGrantKind } from './room/model/grant.ts';
import { shareGrantKind } from './share/model.ts';
import { volumeGrantKind } from './volume/model.ts';

/** Each kind of grant, as `model/grant.ts` describes it, by the field of requests, specs and views. */
export const grantKinds = {
  volumes: volumeGrantKind,
  shares: shareGrantKind,
  rooms: roomGrantKind,
  memoryScopes: memoryGrantKind,
};

/** The grants that requests for the sandboxes of agents and swarms may contain, too. */
export const agentGrantFields = ['volumes', 'rooms', 'memoryScopes'] as const satisfies (keyof typeof grantKinds)[];
