import { identityOf, readIdSpace } from '../../../kernel/engine/local/ids.ts';
import { outsideId, readIdMap } from '../../../lib/sys/id-map.ts';

/** How many group ids there are for shares of a user. */
export const groupIds = 1000;

/** The first of the group ids at the end of the user's range, as the host numbers them: no account has these ids. */
export function firstGroupId(slot: number, space = readIdSpace(), map = readIdMap('gid')): number {
  const inside = identityOf(slot, space).rootId + space.perUser - groupIds;
  return outsideId(map, inside) ?? inside;
}
