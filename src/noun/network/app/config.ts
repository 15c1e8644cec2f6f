/** Sections `network` and `services` of config.yaml: what sandboxes may reach. */
import { z } from 'zod';
import { type At, bytes, section, sizeKey } from '../../../kernel/settings/section.ts';
import { defaultNetworkLimits, maxRules, type NetworkLimits, usableRule } from '../model/network.ts';
import { expandPresets, type NetworkPresets, presetsWith } from '../model/preset.ts';
import { servicesSection } from './service-config.ts';

const networkLimits = z
  .strictObject({
    connections: z
      .int()
      .min(1)
      .max(10_000)
      .meta({
        description: 'Open connections of one sandbox; more of them wait.',
        default: defaultNetworkLimits.connections,
        examples: [100],
      }),
    rate: sizeKey('Bytes per second, both directions together. Default: no limit.', null, '10m'),
    total: sizeKey('Bytes over the life of a sandbox, both directions together. Default: no limit.', null, '20g'),
    connectSeconds: z
      .number()
      .min(0.1)
      .max(300)
      .meta({
        description: 'Time-out of a request, a name lookup and a handshake, each.',
        default: defaultNetworkLimits.connectMs / 1000,
        examples: [5],
      }),
    idleSeconds: z
      .number()
      .min(1)
      .max(86_400)
      .meta({
        description: 'Time-out of a connection that carries no byte.',
        default: defaultNetworkLimits.idleMs / 1000,
        examples: [300],
      }),
  })
  .partial()
  .describe('Limits on the connections of each sandbox.');
const network = z
  .strictObject({
    allow: z
      .array(z.string().max(300))
      .max(maxRules)
      .meta({
        description: 'Rules for sandboxes for which neither the command nor the project names any.',
        default: [],
        examples: [['registry.npmjs.org', '*.githubusercontent.com']],
      }),
    presets: z.record(z.string().regex(/^[a-z][a-z0-9-]{0,31}$/), z.array(z.string().max(300)).max(maxRules)).meta({
      description: 'Names for lists of rules, besides those of `carrel net presets` or in place of them.',
      default: {},
      examples: [{ npm: ['npm.example.com'] }],
    }),
    limits: networkLimits,
  })
  .partial()
  .describe('What sandboxes may reach.');

export const networkConfig = [
  section('network', { schema: network.optional(), read: (content, at) => ({ network: networkOf(content, at) }) }),
  servicesSection,
] as const;

function networkOf(content: z.output<typeof network> | undefined, at: At) {
  const allow = content?.allow ?? [];
  const presets = presetsWith(presetsOf(content?.presets ?? {}, at));
  return {
    allow: expandPresets(allow, presets).map((rule, index, all) =>
      at(`network.allow.${index}`, () => usableRule(rule, all)),
    ),
    presets,
    ownPresets: Object.keys(content?.presets ?? {}),
    limits: at('network.limits', () => networkLimitsOf(content?.limits)),
  };
}

function presetsOf(content: Readonly<Record<string, readonly string[]>>, at: At): NetworkPresets {
  const checked = Object.entries(content).map(([name, rules]) => [
    name,
    rules.map((rule, index) => at(`network.presets.${name}.${index}`, () => usableRule(rule, rules))),
  ]);
  return Object.fromEntries(checked) as NetworkPresets;
}

function networkLimitsOf(content: z.output<typeof networkLimits> | undefined): NetworkLimits {
  const { connections, rate, total, connectSeconds, idleSeconds } = content ?? {};
  return {
    connections: connections ?? defaultNetworkLimits.connections,
    bytesPerSecond: rate === undefined ? defaultNetworkLimits.bytesPerSecond : bytes(rate, 'network.limits.rate'),
    totalBytes: total === undefined ? defaultNetworkLimits.totalBytes : bytes(total, 'network.limits.total'),
    connectMs: connectSeconds === undefined ? defaultNetworkLimits.connectMs : connectSeconds * 1000,
    idleMs: idleSeconds === undefined ? defaultNetworkLimits.idleMs : idleSeconds * 1000,
  };
}
