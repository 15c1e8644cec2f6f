/** What users ask about the networks of their sandboxes. */

import type { Kernel } from '../../../kernel/kernel.ts';
import type { Row } from '../../../kernel/store/store.ts';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { Fault, isFault } from '../../../model/fault.ts';
import { type Endpoint, endpointText, hostText, parseEndpoint } from '../../../model/host.ts';
import type { Actor } from '../../../model/user.ts';
import { type Sandbox, withSpec } from '../../sandbox/model.ts';
import type { Sandboxes } from '../../sandbox/sandbox.ts';
import {
  type ExplainView,
  maxPorts,
  type NetworkView,
  type PortRequest,
  type PortRow,
  type PortView,
  type PresetExplainView,
  type PresetView,
} from '../api.ts';
import { RefusedAttempt, resolveAllowed, systemLookUp } from '../lookup.ts';
import {
  canonicalRule,
  maxRules,
  type NetworkLimits,
  NetworkPolicy,
  type NetworkRefusal,
  type NetworkSpec,
  noNetwork,
  type PortForward,
} from '../model/network.ts';
import { expandPresets, type NetworkPresets } from '../model/preset.ts';
import { UsageFile } from '../proxy/attached/usage.ts';
import { type RecordLine, type RecordReadOptions, readRecord } from '../record.ts';
import { type HostPorts, loopback } from './host-ports.ts';
import type { HostRegistry } from './host-registry.ts';
import type { Networks } from './networks.ts';
import { checkedRules } from './policy.ts';

export interface UserNetworkParts extends Pick<Kernel, 'store' | 'now'> {
  readonly sandboxes: Pick<Sandboxes, 'current' | 'rows'>;
  readonly networks: Pick<Networks, 'refresh' | 'folder' | 'trouble'>;
  /** Hosts that the sandbox has credentials for. */
  readonly credentialHosts: (sandbox: Sandbox) => readonly { readonly name: string; readonly place: string }[];
  readonly hostPorts: HostPorts;
  readonly presets: NetworkPresets;
  /** Those rules of `presets` that come from configuration files of the owner's tools. */
  readonly registries: () => readonly HostRegistry[];
  /** Rules of sandboxes for which neither the command nor the project names any. */
  readonly defaults: readonly string[];
  readonly limits: NetworkLimits;
}

const httpsPort = 443;

/** At most this many refused hosts are printed at the end of a run. */
const maxRefused = 5;

function isForRules(refusal: NetworkRefusal | null): boolean {
  return refusal === 'not_allowed' || refusal === 'port_not_allowed';
}

export class UserNetworks {
  readonly #actor: Actor;
  readonly #parts: UserNetworkParts;

  constructor(actor: Actor, parts: UserNetworkParts) {
    this.#actor = actor;
    this.#parts = parts;
  }

  /** All presets with their hosts. */
  presets(): PresetView[] {
    const registries = this.#parts.registries();
    return Object.entries(this.#parts.presets).map(([name, hosts]) => {
      const found = registries.filter(({ preset, rule }) => preset === name && hosts.includes(rule));
      return { name, hosts: [...hosts], found: found.map(({ rule, file }) => ({ rule, file })) };
    });
  }

  async change(name: string, allow: readonly string[], deny: readonly string[]): Promise<NetworkView> {
    const row = await this.#parts.sandboxes.current(name);
    const network = networkOf(row);
    const { presets } = this.#parts;
    const denied = expandPresets(deny, presets).map(canonicalRule);
    const unknown = denied.find((rule) => !network.allow.includes(rule));
    if (unknown !== undefined) throw noRule(name, unknown, network);
    const kept = network.allow.filter((rule) => !denied.includes(rule));
    const rules = [...new Set([...kept, ...checkedRules(expandPresets(allow, presets), this.#actor.isOwner, kept)])];
    if (rules.length > maxRules) throw new Fault('invalid', `${name} would have more than ${maxRules} rules`);
    await this.#write(row, { ...network, allow: rules });
    return { allow: rules, ports: [...network.ports] };
  }

  /** Whether a sandbox without rules of its own may reach a place, and which presets would allow it. */
  async explainDefault(text: string): Promise<PresetExplainView> {
    const endpoint = parseEndpoint(text, httpsPort);
    const { defaults, presets } = this.#parts;
    const decision = await decided(new NetworkPolicy(defaults), endpoint);
    const allowing = Object.entries(presets).filter(([, rules]) => new NetworkPolicy(rules).decide(endpoint).allowed);
    return { ...decision, presets: allowing.map(([preset]) => preset) };
  }

  async explain(name: string, text: string): Promise<ExplainView> {
    const { id, value } = await this.#parts.sandboxes.current(name);
    const endpoint = parseEndpoint(text, httpsPort);
    const trouble = this.#parts.networks.trouble(id);
    if (trouble !== null) {
      const reason = `${trouble}, so the port is not open until it is free`;
      return { ...answer(endpoint), allowed: false, rule: null, refusal: 'unreachable', reason };
    }
    if (this.#isSpent(id)) {
      const reason = 'the sandbox has reached its limit of bytes sent and received';
      return { ...answer(endpoint), allowed: false, rule: null, refusal: 'limit', reason };
    }
    const service = value.spec.services?.find(({ port }) => port === endpoint.port);
    if (service && hostText(endpoint.host) === loopback) {
      const reason = `allowed by the service ${service.name}, which gets the identity of the caller`;
      return { ...answer(endpoint), allowed: true, rule: `service ${service.name}`, reason };
    }
    const credential = this.#parts.credentialHosts(value).find(({ place }) => place === endpointText(endpoint));
    const policy = new NetworkPolicy([...(credential ? [credential.place] : []), ...networkOf({ value }).allow]);
    return decided(policy, endpoint, credential && `the credential ${credential.name}, which is added outside`);
  }

  /** Refused hosts that a rule would have opened, each once, in the order of the first attempts since the current start. */
  async refusedBy({ id, spec, status }: Sandbox): Promise<string[]> {
    if ((spec.network ?? noNetwork).allow.length === 0) return [];
    const places = new Set<string>();
    const options = { follow: false, tail: null, signal: new AbortController().signal };
    for await (const line of readRecord(this.#parts.networks.folder(id), options)) {
      if (places.size >= maxRefused) break;
      if ('refusal' in line && isForRules(line.refusal) && line.at >= (status.startedAt ?? '')) places.add(line.asked);
    }
    return [...places];
  }

  async log(name: string, options: RecordReadOptions): Promise<AsyncGenerator<RecordLine>> {
    const { id } = await this.#parts.sandboxes.current(name);
    return readRecord(this.#parts.networks.folder(id), options);
  }

  listPorts(): PortRow[] {
    return this.#parts.sandboxes
      .rows()
      .flatMap((row) =>
        networkOf(row).ports.map((port) => ({ ...port, sandbox: row.name, state: row.value.status.state })),
      );
  }

  /** Records the port and opens it; if it cannot be opened, it is not recorded. */
  async addPort(name: string, request: PortRequest): Promise<PortView> {
    const row = await this.#parts.sandboxes.current(name);
    const network = networkOf(row);
    if (network.ports.length >= maxPorts) {
      throw new Fault('exhausted', `${name} has ${maxPorts} ports already`, {
        hint: `Remove one with: carrel port rm ${name} PORT`,
      });
    }
    return this.#parts.hostPorts.use(request, async (added) => {
      await this.#write(row, { ...network, ports: [...network.ports, added] });
      return added;
    });
  }

  async removePort(name: string, port: number, hostPort: number | undefined): Promise<PortView[]> {
    const row = await this.#parts.sandboxes.current(name);
    const network = networkOf(row);
    const isMeant = (one: PortForward) => one.port === port && (hostPort === undefined || one.hostPort === hostPort);
    const removed = network.ports.filter(isMeant);
    if (removed.length === 0) {
      throw new Fault('not_found', `no port leads to port ${port} of ${name}`, {
        hint: 'See: carrel port ls',
      });
    }
    await this.#write(row, { ...network, ports: network.ports.filter((one) => !isMeant(one)) });
    return removed;
  }

  #isSpent(id: string): boolean {
    const { limits, networks } = this.#parts;
    return limits.totalBytes !== null && new UsageFile(networks.folder(id)).read() >= limits.totalBytes;
  }

  /** Records the network and applies it to a running sandbox; if that fails, the old network is recorded again. */
  async #write(row: Row<'sandbox'>, network: NetworkSpec): Promise<void> {
    const before = networkOf(row);
    this.#record(row.id, network);
    crashPoint('network:recorded');
    try {
      await this.#parts.networks.refresh(row.id);
    } catch (error) {
      // A proxy that is away gets the rules when it is back.
      if (isFault(error, 'unavailable')) throw error;
      this.#record(row.id, before);
      await this.#parts.networks.refresh(row.id).catch(() => {});
      throw error;
    }
  }

  /** Reads the row again: the rest of the record may have changed meanwhile. */
  #record(id: string, network: NetworkSpec): void {
    const { store, now } = this.#parts;
    const row = store.get('sandbox', id);
    if (!row) throw new Fault('not_found', 'the sandbox was removed meanwhile');
    const data = { name: row.name, user: row.owner, allow: network.allow, ports: network.ports };
    const event = { at: now(), type: 'sandbox.network_changed', subject: id, data };
    store.update(row, withSpec(row.value, { network }), event);
  }
}

async function decided(policy: NetworkPolicy, endpoint: Endpoint, by?: string): Promise<ExplainView> {
  try {
    const { rule, addresses } = await resolveAllowed(policy, endpoint, systemLookUp);
    const reason = `allowed by ${by ?? `the rule ${rule}`}`;
    return { ...answer(endpoint), allowed: true, rule, reason, addresses: addresses.map(({ text }) => text) };
  } catch (error) {
    if (!(error instanceof RefusedAttempt)) throw error;
    return { ...answer(endpoint), allowed: false, rule: error.rule, refusal: error.refusal, reason: error.message };
  }
}

function networkOf({ value }: { readonly value: Sandbox }): NetworkSpec {
  return value.spec.network ?? noNetwork;
}

function answer(endpoint: Endpoint): Pick<ExplainView, 'asked' | 'refusal' | 'addresses'> {
  return { asked: endpointText(endpoint), refusal: null, addresses: [] };
}

function noRule(name: string, rule: string, { allow }: NetworkSpec): Fault {
  return new Fault('not_found', `${name} has no rule ${rule}`, {
    hint: allow.length === 0 ? 'It has none at all.' : `It has: ${allow.join(', ')}`,
  });
}
