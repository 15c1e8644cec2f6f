/** The memory for callers of the hub, and what the token of a caller may reach. */

import { Fault } from '../../../model/fault.ts';
import type { Actor } from '../../../model/user.ts';
import { type HubCaller, socketCaller } from '../../hub/hub.ts';
import type { Project } from '../../project/model/project.ts';
import type { MemoryScope, Writer } from '../model/memory.ts';
import { CallerMemory, type CallerParts, person, type Reach } from './caller-memory.ts';

export interface HubMemoryParts extends Pick<CallerParts, 'liveMemories' | 'report'> {
  readonly projects: () => readonly Project[];
}

/** The memory for a caller of the hub: the user, or a token. */
export function hubMemory(
  { name: user }: Actor,
  caller: HubCaller,
  { liveMemories, report, projects }: HubMemoryParts,
): CallerMemory {
  const isUser = caller.name === socketCaller.name;
  const token: Writer = { kind: 'token', name: caller.name, id: caller.name, agent: null, session: null };
  const reach = reachOf(caller, projects);
  return new CallerMemory({ liveMemories, report, user, reach, writer: isUser ? person(user) : token, via: 'hub' });
}

/** A token for some projects reaches only the scopes of these projects. */
function reachOf(caller: HubCaller, projects: () => readonly Project[]): Reach {
  const named = projects().filter(({ id }) => caller.projects === '*' || caller.projects.includes(id));
  const scopeOf = ({ folder }: Project): MemoryScope => `project:${folder}`;
  const scopes = caller.projects === '*' ? null : named.map(scopeOf);
  const find = (place: string): MemoryScope => {
    const found = named.find(({ id }) => id === place);
    if (found !== undefined) return scopeOf(found);
    // A request to forget a note names the scope itself.
    const isScope = place === 'user' || place.includes(':');
    if (isScope && (scopes === null || scopes.includes(place as MemoryScope))) return place as MemoryScope;
    throw new Fault('not_found', `no project ${place}`, { hint: 'See: carrel project ls' });
  };
  return {
    readable: (place) => (place === undefined ? scopes : [find(place)]),
    writable: (place) => {
      if (place !== undefined) return find(place);
      if (scopes === null) return 'user';
      throw new Fault('denied', 'this token is for some projects only: name one of them');
    },
  };
}
