/** What of the headers of a message is passed on to the host of a credential, and back. */
import { type Headers, hopByHop, namedByConnection, pairs } from '../headers.ts';

/** Servers that hand headers on as variables do not tell these apart. */
function alike(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}

export interface Addition {
  readonly host: string;
  readonly header: string;
  readonly value: string;
  readonly drops: readonly string[];
}

/** Whatever a client says in the header of the credential, in any spelling and however often, is left out. */
export function requestHeaders(received: Headers, { host, header, value, drops }: Addition): string[] {
  const left = new Set([...droppedFrom(received), ...[header, ...drops].map(alike)]);
  const passed = pairs(received).filter(([name]) => !left.has(alike(name)));
  return ['host', host, ...passed.flat(), header, value];
}

/** How a body is framed is said for each connection anew. */
export function responseHeaders(received: Headers): string[] {
  const left = new Set(droppedFrom(received));
  return pairs(received)
    .filter(([name]) => !left.has(name.toLowerCase()))
    .flat();
}

/** The host is named anew, too. */
function droppedFrom(received: Headers): string[] {
  const named = namedByConnection(received).map(alike);
  return [...hopByHop, 'host', ...named.filter((name) => name !== 'content-length')];
}
