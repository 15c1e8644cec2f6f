/**
 * What a sandbox may reach: a list of rules, each HOST or HOST:PORT. HOST is a name, a name with wildcard labels (`*`
 * stands for exactly one label), or an address; without a port a rule is for the web, 80 and 443. The proxy refuses a
 * connection that no rule allows.
 *
 * A connection is decided twice: by the requested name, before it is resolved, and by the address that it resolves to.
 * An address that is not of the public Internet, or belongs to the host, is refused unless a rule names that very
 * address; a rule for a name is not enough, because the owner of a name decides what it resolves to.
 */

import { Fault } from '../../../model/fault.ts';
import {
  type Endpoint,
  endpointText,
  type Host,
  hostText,
  parseHost,
  parseName,
  splitPort,
} from '../../../model/host.ts';
import { printable } from '../../../model/name.ts';
import { type AddressClass, addressClass } from './address.ts';

/** The network settings of a sandbox. Only the API writes them. */
export interface NetworkSpec {
  /** Rules as `canonicalRule` writes them. */
  readonly allow: readonly string[];
  readonly ports: readonly PortForward[];
}

/** A server inside that is reachable from outside. */
export interface PortForward {
  readonly port: number;
  readonly hostPort: number;
  /** The address of this machine at which it listens. */
  readonly hostAddress: string;
}

export const noNetwork: NetworkSpec = { allow: [], ports: [] };

export interface NetworkLimits {
  /** Connections at the same time; further ones wait. */
  readonly connections: number;
  /** Both directions together; null: no limit. */
  readonly bytesPerSecond: number | null;
  /** Both directions together, over the life of the sandbox; null: no limit. */
  readonly totalBytes: number | null;
  /** The time-out of a request, of the lookup of a name and of a handshake, each. */
  readonly connectMs: number;
  /** The time-out of a connection without a byte in either direction. */
  readonly idleMs: number;
}

export const defaultNetworkLimits: NetworkLimits = {
  connections: 1024,
  bytesPerSecond: null,
  totalBytes: null,
  connectMs: 15_000,
  idleMs: 15 * 60_000,
};

export const maxRules = 500;
const webPorts: readonly number[] = [443, 80];

export type NetworkRefusal =
  | 'not_allowed'
  | 'port_not_allowed'
  | AddressClass
  | 'own_address'
  | 'unknown_name'
  | 'server_name'
  | 'bad_request'
  | 'limit'
  | 'unreachable'
  | 'timeout';

export type NetworkDecision =
  | { readonly allowed: true; readonly rule: string }
  | {
      readonly allowed: false;
      readonly rule: string | null;
      readonly refusal: NetworkRefusal;
      /** A sentence for people. */
      readonly reason: string;
    };

interface Rule {
  readonly text: string;
  readonly host: Host | { readonly kind: 'pattern'; readonly labels: readonly string[] };
  readonly port: number | null;
}

/** The canonical spelling of a rule; throws if the text is not a rule. */
export function canonicalRule(text: string): string {
  return parseRule(text).text;
}

/** Words for a whole network in other programs. None of them is a host. */
const networkWords = new Set(['all', 'any', 'bridge', 'default', 'host', 'internet', 'none', 'open']);

const localNames = /(?:^|\.)localhost$|^ip6-(?:localhost|loopback)$/;
/** A client that connects to one of these reaches itself: the proxy would reach the loopback of the host. */
const anyAddress = new Set(['0.0.0.0', '::']);

/**
 * The canonical spelling of a rule, refused if it would have no effect: inside, loopback is the sandbox itself, and clients
 * do not use a proxy for it. A loopback address counts only with a name: `all` has a rule for a name at that port.
 */
export function usableRule(text: string, all: readonly string[]): string {
  const rule = parseRule(text);
  const { host } = rule;
  if (host.kind === 'name' && networkWords.has(host.text)) throw noNetworkWord(host.text);
  if (host.kind === 'name' && localNames.test(host.text)) throw isInside(rule);
  if (host.kind === 'address' && anyAddress.has(host.text)) throw isInside(rule);
  if (ruleClass(text) !== 'loopback') return rule.text;
  const ports = rule.port === null ? webPorts : [rule.port];
  const hasName = all.some((other) => ports.some((port) => namesHost(other, port)));
  if (!hasName) throw isInside(rule);
  return rule.text;
}

function namesHost(text: string, port: number): boolean {
  try {
    const rule = parseRule(text);
    return rule.host.kind !== 'address' && opens(rule, port);
  } catch {
    // Refused when that rule is checked itself, ignoring.
    return false;
  }
}

function noNetworkWord(word: string): Fault {
  const hint =
    word === 'none'
      ? 'none stands alone.'
      : 'Name each host: HOST or HOST:PORT, or *.HOST for the hosts one label below.';
  return new Fault('invalid', `${word} is not a host`, { hint });
}

function isInside({ text }: Rule): Fault {
  return new Fault('invalid', `${text} would be the sandbox itself: each sandbox has a loopback interface of its own`, {
    hint: 'For a server on this machine declare it under `services:` in config.yaml and give it with --service NAME.',
  });
}

/** The class of the address that a rule names; null for a public address and for a name. */
export function ruleClass(text: string): AddressClass | null {
  const { host } = parseRule(text);
  return host.kind === 'address' ? addressClass(host.text, host.family) : null;
}

function parseRule(text: string): Rule {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    throw new Fault('invalid', `${printable(text)} is a URL`, { hint: 'Write the host alone: HOST or HOST:PORT.' });
  }
  const { host: name, port } = splitPort(text);
  const host = name.includes('*') ? parsePattern(name) : parseHost(name);
  const written = host.kind === 'pattern' ? host.labels.join('.') : hostText(host);
  return { text: port === null ? written : `${written}:${port}`, host, port };
}

const literalLabels = 2;

/** The last two labels are literal, so that no rule covers a whole top-level domain. */
function parsePattern(text: string): { kind: 'pattern'; labels: string[] } {
  const labels = text.replace(/\.$/, '').split('.');
  if (labels.length <= literalLabels || labels.slice(-literalLabels).some((label) => label.includes('*'))) {
    throw new Fault('invalid', `${printable(text)} would be for too many hosts`, {
      hint: 'A wildcard stands for one label, before at least two that are written out: *.example.com',
    });
  }
  if (labels.some((label) => label !== '*' && label.includes('*'))) {
    throw new Fault('invalid', `${printable(text)} has a wildcard in the middle of a label`, {
      hint: 'A wildcard stands for a whole label: *.example.com',
    });
  }
  // A label replaces the wildcards while the rest is brought into canonical spelling.
  const name = parseName(labels.map((label) => (label === '*' ? 'x' : label)).join('.')).split('.');
  if (name.length !== labels.length) throw new Fault('invalid', `${printable(text)} is not a pattern of host names`);
  return { kind: 'pattern', labels: labels.map((label, at) => (label === '*' ? label : name[at]!)) };
}

export class NetworkPolicy {
  readonly #rules: readonly Rule[];

  constructor(rules: readonly string[]) {
    this.#rules = rules.map(parseRule);
  }

  /** Whether the name and port are allowed. The address is decided separately. */
  decide(endpoint: Endpoint): NetworkDecision {
    const hosts = this.#rules.filter((rule) => matches(rule, endpoint.host));
    const rule = hosts.find((one) => opens(one, endpoint.port));
    if (rule) return { allowed: true, rule: rule.text };
    const near = hosts[0];
    return near
      ? refuse('port_not_allowed', `the rule ${near.text} is not for port ${endpoint.port}`, near.text)
      : refuse('not_allowed', `no rule allows ${endpointText(endpoint)}`);
  }

  /**
   * Whether a connection to that very address is allowed; null: it is a public address, which needs no rule of its own.
   * `own` are the addresses of this machine.
   */
  decideAddress(address: Host & { kind: 'address' }, port: number, own: ReadonlySet<string>): NetworkDecision | null {
    const kind = addressClass(address.text, address.family);
    const isOwn = own.has(address.text);
    if (kind === null && !isOwn) return null;
    const named = this.#rules.find(
      (rule) => rule.host.kind === 'address' && matches(rule, address) && opens(rule, port),
    );
    if (named) return { allowed: true, rule: named.text };
    const what = isOwn && kind !== 'loopback' ? 'an address of this machine' : `a ${kind} address`;
    const reason = `${hostText(address)} is ${what}, which has to be named exactly: ${hostText(address)}:${port}`;
    return refuse(isOwn && kind !== 'loopback' ? 'own_address' : kind!, reason);
  }
}

function refuse(refusal: NetworkRefusal, reason: string, rule: string | null = null): NetworkDecision {
  return { allowed: false, rule, refusal, reason };
}

function opens({ port }: Rule, requested: number): boolean {
  return port === null ? webPorts.includes(requested) : port === requested;
}

function matches({ host }: Rule, requested: Host): boolean {
  if (host.kind !== 'pattern') return host.kind === requested.kind && host.text === requested.text;
  if (requested.kind !== 'name') return false;
  const labels = requested.text.split('.');
  return labels.length === host.labels.length && host.labels.every((one, at) => one === '*' || one === labels[at]);
}
