/** Looks names up as this machine does, and decides which of the addresses may be dialled. */
import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { type Endpoint, endpointText, type Host, parseHost } from '../../model/host.ts';
import { printable } from '../../model/name.ts';
import type { NetworkDecision, NetworkPolicy, NetworkRefusal } from './model/network.ts';

export type Address = Extract<Host, { kind: 'address' }>;
export type LookUp = (name: string) => Promise<readonly Address[]>;

/** The reason why an attempt is refused, as it is recorded. */
export class RefusedAttempt extends Error {
  readonly refusal: NetworkRefusal;
  readonly rule: string | null;

  constructor(refusal: NetworkRefusal, reason: string, rule: string | null = null) {
    super(reason);
    this.refusal = refusal;
    this.rule = rule;
  }
}

export interface AllowedTarget {
  readonly rule: string;
  /** Not empty. */
  readonly addresses: readonly Address[];
}

/** The addresses that may be dialled for a request. Throws `RefusedAttempt`. */
export async function resolveAllowed(policy: NetworkPolicy, endpoint: Endpoint, look: LookUp): Promise<AllowedTarget> {
  const { rule } = allowed(policy.decide(endpoint));
  const found = endpoint.host.kind === 'address' ? [endpoint.host] : await look(endpoint.host.text);
  const own = ownAddresses();
  const decisions = found.map((address) => ({ address, decision: policy.decideAddress(address, endpoint.port, own) }));
  const addresses = decisions.filter(({ decision }) => decision === null || decision.allowed);
  if (addresses.length > 0) return { rule, addresses: addresses.map(({ address }) => address) };
  const refused = decisions[0]?.decision;
  if (refused && !refused.allowed) throw new RefusedAttempt(refused.refusal, refused.reason, rule);
  throw new RefusedAttempt('unknown_name', `${endpointText(endpoint)} has no address`, rule);
}

function allowed(decision: NetworkDecision): Extract<NetworkDecision, { allowed: true }> {
  if (decision.allowed) return decision;
  throw new RefusedAttempt(decision.refusal, decision.reason, decision.rule);
}

/** Looks up with the hosts file and the name servers of this machine. */
export const systemLookUp: LookUp = async (name) => {
  try {
    const found = await lookup(name, { all: true, verbatim: true });
    return found.map(({ address }) => parseHost(address) as Address);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new RefusedAttempt('unknown_name', `${printable(name)} cannot be looked up (${code ?? 'no answer'})`);
  }
};

const ownMs = 2000;
let own: { readonly untilMs: number; readonly addresses: ReadonlySet<string> } = { untilMs: 0, addresses: new Set() };

/** The addresses of this machine. They are read again after a while, because interfaces change. */
function ownAddresses(): ReadonlySet<string> {
  if (Date.now() < own.untilMs) return own.addresses;
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const texts = all.map(({ address }) => parseHost(address.replace(/%.*$/, '')).text);
  own = { untilMs: Date.now() + ownMs, addresses: new Set(texts) };
  return own.addresses;
}
