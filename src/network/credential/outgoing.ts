/** Requests as they go to the host of a credential. */
import type { IncomingMessage } from 'node:http';
import { Fault } from '../../model/fault.ts';
import { hostText, parseEndpoint, parseHost } from '../../model/host.ts';
import type { Call, Target } from '../network.ts';
import { requestHeaders } from './headers.ts';

export interface Outgoing {
  readonly method: string;
  readonly path: string;
  readonly headers: string[];
}

/** What APIs use. TRACE would have a server send the key back, and others are not known to be harmless. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** A Fault where it is not for us to pass on. */
export function outgoing({ target, credential, asked }: Call, request: IncomingMessage): Outgoing | Fault {
  const { method = '', url = '', rawHeaders } = request;
  const { host: hostHeader = '' } = request.headers;
  if (credential !== null && !methods.has(method)) {
    return new Fault('invalid', `${method} is not sent with a credential, only ${[...methods].join(', ')}`);
  }
  if (!/^\/[\x21-\x7e]*$|^\*$/.test(url)) return new Fault('invalid', 'a request names a path here and nothing else');
  if (asked !== null && !isFor(hostHeader, target)) {
    return new Fault('invalid', `this connection is for ${target.host} alone`);
  }
  const headers = requestHeaders(rawHeaders, { ...target, host: authority(target) });
  return { method, path: url, headers: [...headers, ...framing(request)] };
}

function isFor(text: string, { host, port }: Target): boolean {
  try {
    const named = parseEndpoint(text, port);
    return named.host.text === host && named.port === port;
  } catch {
    return false;
  }
}

function authority({ host, port }: Target): string {
  const text = hostText(parseHost(host));
  return port === 443 ? text : `${text}:${port}`;
}

/** Content-Length has been passed on; a request with neither has no body, which some servers want to be told. */
function framing({ headers, method = '' }: IncomingMessage): string[] {
  if (headers['transfer-encoding'] !== undefined) return ['transfer-encoding', 'chunked'];
  const usuallyHas = ['POST', 'PUT', 'PATCH'].includes(method);
  return usuallyHas && headers['content-length'] === undefined ? ['content-length', '0'] : [];
}
