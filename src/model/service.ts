/**
 * A service of this installation that its owner declared: sandboxes that were granted it reach it at a fixed port of their
 * loopback. Who calls is told outside, on the way: what a sandbox says about itself does not get through.
 */
import { Fault } from './fault.ts';
import { printable } from './name.ts';

/** What a sandbox was granted, as its record keeps it. */
export interface ServiceGrant {
  readonly name: string;
  /** Of 127.0.0.1 inside. */
  readonly port: number;
}

/** `headers`: HTTP, each request has the caller in a header. `line`: anything, each connection begins with a line about them. */
export const identityKinds = ['headers', 'line'] as const;
export type IdentityKind = (typeof identityKinds)[number];

export interface DeclaredService extends ServiceGrant {
  /** A unix socket by its path, or ADDRESS:PORT of this machine's loopback. */
  readonly to: string;
  readonly identity: IdentityKind;
}

/** The ports inside that declared services may have. */
export const servicePorts = { first: 17_010, last: 17_099 } as const;
export const maxServices = servicePorts.last - servicePorts.first + 1;
export const serviceNamePattern = /^[a-z][a-z0-9-]{0,31}$/;

/** In each request to a service, as JSON: {"id":…,"name":…,"user":…}. */
export const callerHeader = 'x-carrel-caller';

export function checkServiceName(text: string): string {
  if (serviceNamePattern.test(text)) return text;
  throw new Fault('invalid', `${printable(text)} is not a name of a service`, {
    hint: 'Use 1 to 32 of a-z, 0-9 and "-", starting with a letter.',
  });
}

/** What was granted and is still declared, at the port that was granted. */
export function grantedOf(
  grants: readonly ServiceGrant[],
  declared: readonly DeclaredService[],
): readonly DeclaredService[] {
  return grants.flatMap(({ name, port }) =>
    declared.filter((one) => one.name === name).map((one) => ({ ...one, port })),
  );
}

/** How programs inside find it. */
export function serviceEnv({ name, port }: ServiceGrant): Readonly<Record<string, string>> {
  return { [`CARREL_SERVICE_${name.toUpperCase().replaceAll('-', '_')}`]: `127.0.0.1:${port}` };
}
