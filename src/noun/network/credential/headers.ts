/** The headers that pass to the host of a credential, and back. */
import type { IncomingMessage } from 'node:http';
import { occurs } from '../../../lib/text/occurrence.ts';
import { type Headers, hopByHop, namedByConnection, pairs } from '../../../lib/wire/http-headers.ts';
import { Fault } from '../../../model/fault.ts';
import type { CredentialCall } from './credential.ts';

/** CGI servers do not distinguish `_` and `-` in names. */
function alike(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}

export interface HeaderAddition {
  readonly host: string;
  readonly header: string;
  readonly value: string;
  readonly drops: readonly string[];
  readonly also?: readonly [string, string];
}

/**
 * The headers of a request with those of the credential. The client's own headers of these names are removed, in any
 * spelling and number.
 */
export function requestHeaders(received: Headers, { host, header, value, drops, also }: HeaderAddition): string[] {
  const added = [[header, value] as const, ...(also === undefined ? [] : [also])];
  const names = [...added.map(([name]) => name), ...drops];
  const left = new Set([...droppedFrom(received), ...names.map(alike)]);
  const passed = pairs(received).filter(([name]) => !left.has(alike(name)));
  return ['host', host, ...passed.flat(), ...added.flat()];
}

/** Refuses a response that echoes the key: it would bring the key into the sandbox. */
export function echoIn(
  { credential }: CredentialCall,
  { statusMessage = '', rawHeaders }: IncomingMessage,
): Fault | null {
  if (credential === null) return null;
  const secret = Buffer.from(credential.secret, 'latin1');
  if (![statusMessage, ...rawHeaders].some((text) => occurs(secret, text))) return null;
  return new Fault('denied', `${credential.host} sent the key back in the head of its answer, which is not passed on`);
}

/** The headers of a response without its framing, which each connection has for itself. */
export function responseHeaders(received: Headers): string[] {
  const left = new Set(droppedFrom(received));
  return pairs(received)
    .filter(([name]) => !left.has(name.toLowerCase()))
    .flat();
}

/** The names that do not pass. Host is among them because the forwarder sets it. */
function droppedFrom(received: Headers): string[] {
  const named = namedByConnection(received).map(alike);
  return [...hopByHop, 'host', ...named.filter((name) => name !== 'content-length')];
}
