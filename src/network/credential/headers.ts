/** What of the headers of a message is passed on. */

/** Flat, name and value in turn, as they were received: `rawHeaders`. */
export type Headers = readonly string[];

/** About one connection only (RFC 9110), or to us. */
const hopByHop = new Set([
  'connection',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

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
  const left = new Set([...hopByHop, ...[header, ...drops].map(alike), ...namedByConnection(received)]);
  const passed = pairs(received).filter(([name]) => !left.has(alike(name)));
  return ['host', host, ...passed.flat(), header, value];
}

/** How a body is framed is said for each connection anew. */
export function responseHeaders(received: Headers): string[] {
  const left = new Set([...hopByHop, ...namedByConnection(received)]);
  return pairs(received)
    .filter(([name]) => !left.has(name.toLowerCase()))
    .flat();
}

function namedByConnection(received: Headers): string[] {
  return pairs(received)
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(','))
    .map((name) => alike(name.trim()))
    .filter((name) => name !== 'content-length');
}

function pairs(flat: Headers): [name: string, value: string][] {
  return flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]!] as [string, string]] : []));
}
