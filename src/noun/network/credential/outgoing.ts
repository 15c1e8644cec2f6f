/** Requests to the host of a credential, made from those of clients. */
import type { IncomingMessage } from 'node:http';
import { Fault } from '../../../model/fault.ts';
import { hostText, parseEndpoint, parseHost } from '../../../model/host.ts';
import type { Paths } from '../model/credential.ts';
import type { CredentialCall, CredentialTarget } from './credential.ts';
import { requestHeaders } from './headers.ts';

export interface Outgoing {
  readonly method: string;
  readonly path: string;
  readonly headers: string[];
}

/** The methods that APIs use. A server answers TRACE with the key, and others are not known to be harmless. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The request to send; a Fault if the request must not pass. */
export function outgoing(call: CredentialCall, request: IncomingMessage): Outgoing | Fault {
  const { target, credential, endpoint } = call;
  const { method = '', url = '', rawHeaders } = request;
  const { host: hostHeader = '' } = request.headers;
  if (credential !== null && !methods.has(method)) {
    return new Fault('invalid', `${method} is not sent with a credential, only ${[...methods].join(', ')}`);
  }
  if (!/^\/[\x21-\x7e]*$|^\*$/.test(url)) return new Fault('invalid', 'the target of a request has to be a path');
  if (target.paths !== undefined && !isAmong(url, target.paths)) {
    const places = target.paths.map((path) => target.host + path).join(' and ');
    return new Fault('denied', `this credential is for ${places} alone, not for other paths`);
  }
  if (endpoint !== null && !isFor(hostHeader, target)) {
    return new Fault('invalid', `this connection is for ${target.host} alone`);
  }
  const headers = call.headers?.(rawHeaders) ?? requestHeaders(rawHeaders, { ...target, host: authority(target) });
  return { method, path: url, headers: [...headers, ...framing(request)] };
}

function isAmong(url: string, paths: Paths): boolean {
  const [path] = url.split('?', 1) as [string];
  return paths.some((one) => (one.endsWith('/') ? isBelow(path, one) : path === one));
}

/**
 * Whether the path is below the folder in every reading: a server could take dots, escapes or empty parts for a way out
 * of it.
 */
function isBelow(path: string, folder: string): boolean {
  const rest = path.slice(folder.length).split('/');
  return path.startsWith(folder) && rest.every((part) => /^[\w~:-][\w.~:-]*$/.test(part));
}

function isFor(text: string, { host, port }: CredentialTarget): boolean {
  try {
    const named = parseEndpoint(text, port);
    return named.host.text === host && named.port === port;
  } catch {
    return false;
  }
}

function authority({ host, port, scheme }: CredentialTarget): string {
  const text = hostText(parseHost(host));
  return port === (scheme === 'http' ? 80 : 443) ? text : `${text}:${port}`;
}

/** Content-Length has passed already; a request with neither has no body, and some servers require a length of 0. */
function framing({ headers, method = '' }: IncomingMessage): string[] {
  if (headers['transfer-encoding'] !== undefined) return ['transfer-encoding', 'chunked'];
  const usuallyHas = ['POST', 'PUT', 'PATCH'].includes(method);
  return usuallyHas && headers['content-length'] === undefined ? ['content-length', '0'] : [];
}
