/**
 * A service of this installation that its owner declared: sandboxes that were granted it reach it at a fixed port of
 * their loopback. The proxy adds the identity of the caller outside, and removes any identity that a sandbox claims.
 */
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';

/** A granted service in the record of a sandbox. */
export interface ServiceGrant {
  readonly name: string;
  /** The port on 127.0.0.1 inside. */
  readonly port: number;
}

/** `headers`: HTTP, with the caller in a header of each request. `line`: any protocol, after a line with the caller. */
export const identityKinds = ['headers', 'line'] as const;
export type IdentityKind = (typeof identityKinds)[number];

/** A service on the host. It gets the identity of the sandbox that calls it. */
export interface DeclaredService extends ServiceGrant {
  /** A unix socket by its path, or ADDRESS:PORT of this machine's loopback. */
  readonly to: string;
  readonly identity: IdentityKind;
}

/** The ports inside that declared services may have. */
export const servicePorts = { first: 17_010, last: 17_099 } as const;
export const maxServices = servicePorts.last - servicePorts.first + 1;
export const serviceNamePattern = /^[a-z][a-z0-9-]{0,31}$/;

/** The header with the caller in each request to a service, as JSON: {"id":…,"name":…,"user":…}. */
export const callerHeader = 'x-carrel-caller';

/** The id of the sandbox in the values of that header. The proxy sends it once; anything else is not from the proxy. */
export function callerId([text, ...more]: readonly string[] = []): string {
  const id = text === undefined || more.length > 0 ? undefined : (JSON.parse(text) as { id?: unknown }).id;
  if (typeof id === 'string') return id;
  throw new Fault('unauthenticated', 'the request has no caller');
}

export function checkServiceName(text: string): string {
  if (serviceNamePattern.test(text)) return text;
  throw new Fault('invalid', `${printable(text)} is not a name of a service`, {
    hint: 'Use 1 to 32 of a-z, 0-9 and "-", starting with a letter.',
  });
}

/** The granted services that are still declared, each at its granted port. */
export function grantedOf(
  grants: readonly ServiceGrant[],
  declared: readonly DeclaredService[],
): readonly DeclaredService[] {
  return grants.flatMap(({ name, port }) =>
    declared.filter((one) => one.name === name).map((one) => ({ ...one, port })),
  );
}

/** The variables by which programs inside find the service. */
export function serviceEnv({ name, port }: ServiceGrant): Readonly<Record<string, string>> {
  return { [`CARREL_SERVICE_${name.toUpperCase().replaceAll('-', '_')}`]: `127.0.0.1:${port}` };
}
