/**
 * What sandboxes can reach, and the ports that lead to them. `noun/network/network.ts` has the promises of the proxy.
 *
 * The record of a sandbox has its rules and ports. `networks.ts` makes its network what the record says: before its
 * command begins, when a new daemon finds it running, and whenever the record changes. If neither the command nor the
 * project names rules, a new sandbox gets those of config.yaml.
 *
 * Promises:
 * - A change takes effect at once in a running sandbox. One that the proxy refuses is not recorded; a proxy that is away
 *   gets it when it is back.
 * - A rule that is taken away closes the connections that it allowed.
 * - A network that could not be made as recorded is tried again while its engine or the proxy does not answer, or while
 *   its port of the host is in use. `show` names a reason that a user can do something about.
 * - Every attempt to connect is recorded; `explain` says which rule decides.
 * - A port of the host that another sandbox has, or that this user may not use, is refused. One that another program
 *   uses is found when the sandbox runs.
 */

import { z } from 'zod';
import { declare, definedDetail, type SseEvent } from '../../../kernel/server/route.ts';
import { count, flag } from '../../../lib/schema/query.ts';
import * as shape from '../api.ts';
import { maxRules } from '../model/network.ts';
import { networkConfig } from './config.ts';
import type { UserNetworks } from './user-networks.ts';

export interface NetworkScope {
  readonly network: UserNetworks;
}

const { noun, route } = declare<NetworkScope>();

export const network = noun({
  config: networkConfig,
  routes: [
    route('POST /v1/sandboxes/{name}/network', {
      id: 'changeNetwork',
      summary: 'Add and remove rules; a running sandbox has them at once',
      body: z.strictObject({
        allow: z.array(shape.rule).max(maxRules).optional(),
        deny: z.array(shape.rule).max(maxRules).optional(),
      }),
      answer: shape.networkView,
      usesSettings: true,
      act: ({ name, body }) => ({
        verb: 'sandbox.network',
        ofSandboxes: true,
        names: [name],
        words: { 'a rule': [...(body.allow ?? []), ...(body.deny ?? [])] },
        detail: definedDetail({ allow: body.allow, deny: body.deny }),
      }),
      handle: ({ scope, name, body }) => scope.network.change(name, body.allow ?? [], body.deny ?? []),
    }),
    route('POST /v1/sandboxes/{name}/network/explain', {
      id: 'explainNetwork',
      summary: 'Whether the sandbox may reach HOST:PORT, and why',
      body: z.strictObject({ asked: z.string().min(1).max(2000) }),
      answer: shape.explainView,
      usesSettings: true,
      act: null,
      handle: ({ scope, name, body }) => scope.network.explain(name, body.asked),
    }),
    route('GET /v1/sandboxes/{name}/network/log', {
      id: 'networkLog',
      summary: 'The connections that the sandbox tried to make, as server-sent events',
      query: z.strictObject({ follow: flag.optional(), tail: count.optional() }),
      answer: 'sse',
      act: null,
      handle: ({ scope, name, query, signal }) => sentLog(scope.network, name, query, signal),
    }),
    route('GET /v1/network/presets', {
      id: 'listNetworkPresets',
      summary: 'Names for the hosts that tools need',
      answer: z.array(shape.presetView),
      act: null,
      handle: async ({ scope }) => scope.network.presets(),
    }),
    route('POST /v1/network/explain', {
      id: 'explainNetworkDefaults',
      summary: 'Whether config.yaml allows HOST:PORT to sandboxes without rules of their own, and which presets would',
      body: z.strictObject({ asked: z.string().min(1).max(2000) }),
      answer: shape.presetExplainView,
      usesSettings: true,
      act: null,
      handle: ({ scope, body }) => scope.network.explainDefault(body.asked),
    }),
    route('GET /v1/ports', {
      id: 'listPorts',
      summary: 'Ports of this machine that are forwarded to sandboxes',
      answer: z.array(shape.portRow),
      act: null,
      handle: async ({ scope }) => scope.network.listPorts(),
    }),
    route('POST /v1/sandboxes/{name}/ports', {
      id: 'addPort',
      summary: 'Forward a port of this machine to a server in the sandbox',
      body: shape.portRequest,
      answer: shape.portView,
      act: ({ name, body: { port, hostPort, hostAddress } }) => ({
        verb: 'sandbox.port.add',
        ofSandboxes: true,
        names: [name],
        detail: definedDetail({ port, hostPort, hostAddress }),
      }),
      handle: ({ scope, name, body }) => scope.network.addPort(name, body),
    }),
    route('POST /v1/sandboxes/{name}/ports/remove', {
      id: 'removePort',
      summary: 'Stop forwarding a port',
      body: z.strictObject({ port: shape.port, hostPort: shape.port.optional() }),
      answer: z.array(shape.portView),
      act: ({ name, body }) => ({
        verb: 'sandbox.port.remove',
        ofSandboxes: true,
        names: [name],
        detail: { port: body.port },
      }),
      handle: ({ scope, name, body }) => scope.network.removePort(name, body.port, body.hostPort),
    }),
  ],
});

interface Query {
  readonly follow?: boolean | undefined;
  readonly tail?: number | undefined;
}

/** The log of a sandbox's connections. Rejects before the first event if there is no such sandbox. */
async function sentLog(
  networks: UserNetworks,
  name: string,
  { follow = false, tail }: Query,
  signal: AbortSignal,
): Promise<AsyncIterable<SseEvent>> {
  const lines = await networks.log(name, { follow, tail: tail ?? null, signal });
  return (async function* () {
    for await (const line of lines) yield { data: JSON.stringify(line) };
  })();
}
