/** What is said about networks. */

import { z } from 'zod';
import { maxRules } from '../model/network.ts';
import { sandboxStates } from '../model/sandbox.ts';

export const rule = z.string().min(1).max(300);
export const networkRequest = z.union(
  [z.literal('none'), z.array(rule).max(maxRules)],
  `neither none nor a list of at most ${maxRules} rules`,
);

export const maxPorts = 100;
export const port = z.int().min(1).max(65_535);
export const portRequest = z.strictObject({
  port,
  /** Default: the same number, or a free one if that is in use. */
  hostPort: port.optional(),
  hostAddress: z.string().min(1).max(100).optional(),
});

export const portView = z.strictObject({ port: z.int(), hostPort: z.int(), hostAddress: z.string() });
export const portRow = portView.extend({ sandbox: z.string(), state: z.enum(sandboxStates) });

export const networkView = z.strictObject({
  /** Empty: loopback and nothing else. */
  allow: z.array(z.string()),
  ports: z.array(portView),
});

export const presetView = z.strictObject({
  name: z.string(),
  hosts: z.array(z.string()),
  /** Those of `hosts` that a configuration file of the owner's npm, pip or cargo names. */
  found: z.array(z.strictObject({ rule: z.string(), file: z.string() })),
});

export const explainView = z.strictObject({
  /** In its one spelling. */
  asked: z.string(),
  allowed: z.boolean(),
  rule: z.string().nullable(),
  refusal: z.string().nullable(),
  /** A sentence for people. */
  reason: z.string(),
  /** Where it would be dialled. */
  addresses: z.array(z.string()),
});

/** Without a sandbox: by `network.allow` of config.yaml, and by which presets. */
export const presetExplainView = explainView.extend({ presets: z.array(z.string()) });

export type PresetExplainView = z.output<typeof presetExplainView>;
export type PresetView = z.output<typeof presetView>;
export type NetworkView = z.output<typeof networkView>;
export type ExplainView = z.output<typeof explainView>;
export type PortRequest = z.output<typeof portRequest>;
export type PortView = z.output<typeof portView>;
export type PortRow = z.output<typeof portRow>;
