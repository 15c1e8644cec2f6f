/**
 * The target of a plain HTTP request, and the headers that pass. A request that two parsers could read differently is
 * refused; the proxy writes a new request from the parsed one, so that nothing passes unparsed.
 */
import type { IncomingMessage } from 'node:http';
import { type Headers, hopByHop, namedByConnection, pairs, valuesOf } from '../../../../lib/wire/http-headers.ts';
import { isFault } from '../../../../model/fault.ts';
import { type Endpoint, endpointText, parseEndpoint } from '../../../../model/host.ts';
import { printable } from '../../../../model/name.ts';
import { RefusedAttempt } from '../../lookup.ts';

const httpPort = 80;

/** Headers that pass even if `Connection` names them. */
const kept = new Set(['host', 'content-length', 'cookie', 'authorization', 'content-type', 'content-encoding']);

export interface ForwardRequest {
  readonly target: Endpoint;
  readonly path: string;
}

/**
 * The target and path of a request. Throws `RefusedAttempt`. `fixed`: the target of the tunnel, the only one allowed in it.
 */
export function wantedBy(request: IncomingMessage, fixed: Endpoint | null): ForwardRequest {
  checkFraming(request);
  const wanted = fixed && request.url?.startsWith('/') ? { target: fixed, path: request.url } : absolute(request);
  if (fixed && endpointText(wanted.target) !== endpointText(fixed)) {
    throw bad(`${endpointText(wanted.target)} is requested in a tunnel to ${endpointText(fixed)}`);
  }
  checkHost(request, wanted.target);
  return wanted;
}

function absolute({ url = '', method }: IncomingMessage): ForwardRequest {
  const found = /^http:\/\/([^/?#]*)([/?][^#]*)?$/i.exec(url);
  if (!found) {
    throw bad(
      url.startsWith('/') || url === '*'
        ? 'this is a proxy: a request needs the whole URL, as clients with a proxy setting send it'
        : `${method} ${printable(url)} is not a request for a proxy`,
    );
  }
  const [, authority = '', rest = '/'] = found;
  return { target: endpoint(authority), path: rest.startsWith('/') ? rest : `/${rest}` };
}

/** Parses HOST:PORT. If the port is missing, `port` is used; if that is null, the request is refused. */
export function endpoint(authority: string, port: number | null = httpPort): Endpoint {
  if (authority.includes('@')) throw bad('a user name or password before the host is refused');
  try {
    return parseEndpoint(authority, port ?? undefined);
  } catch (error) {
    if (isFault(error)) throw bad(error.message);
    throw error;
  }
}

/** Requires exactly one Host, equal to the target. */
function checkHost(request: IncomingMessage, target: Endpoint): void {
  const hosts = valuesOf(request.rawHeaders, 'host');
  if (hosts.length !== 1) throw bad(hosts.length === 0 ? 'the request has no Host' : 'the request has several Hosts');
  if (endpointText(endpoint(hosts[0]!)) === endpointText(target)) return;
  throw bad(`the Host ${printable(hosts[0]!)} is not ${endpointText(target)}`);
}

/** Requires exactly one way to frame the body. */
function checkFraming({ rawHeaders, httpVersion }: IncomingMessage): void {
  const lengths = valuesOf(rawHeaders, 'content-length');
  const codings = valuesOf(rawHeaders, 'transfer-encoding');
  if (lengths.length > 1) throw bad('the request has several lengths');
  if (lengths.length + codings.length > 1) throw bad('the request has a length and is chunked as well');
  if (lengths[0] !== undefined && !/^\d{1,15}$/.test(lengths[0]))
    throw bad('the length of the request is not a number');
  if (codings[0] !== undefined && codings[0].toLowerCase() !== 'chunked') {
    throw bad(`the request is encoded as ${printable(codings[0])}`);
  }
  if (codings.length > 0 && httpVersion !== '1.1') throw bad('only HTTP/1.1 has chunks');
}

/** The headers without those about this connection. */
export function passedOn(rawHeaders: Headers): string[] {
  const dropped = new Set([...hopByHop, ...namedByConnection(rawHeaders).filter((name) => !kept.has(name))]);
  return pairs(rawHeaders)
    .filter(([name]) => !dropped.has(name.toLowerCase()))
    .flat();
}

function bad(reason: string): RefusedAttempt {
  return new RefusedAttempt('bad_request', reason);
}
