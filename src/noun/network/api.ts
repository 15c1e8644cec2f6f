/** What requests and answers about networks look like. */

import { z } from 'zod';
import { sandboxStates } from '../sandbox/model.ts';
import { maxRules } from './model/network.ts';

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
  /** Empty: loopback only. */
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
  /** The host and port that the request named, in normal form. */
  asked: z.string(),
  allowed: z.boolean(),
  rule: z.string().nullable(),
  refusal: z.string().nullable(),
  /** A sentence for people. */
  reason: z.string(),
  /** The addresses that the proxy would dial. */
  addresses: z.array(z.string()),
});

/** The answer without a sandbox: by `network.allow` of config.yaml, with the presets that would allow the host. */
export const presetExplainView = explainView.extend({ presets: z.array(z.string()) });

export type PresetExplainView = z.output<typeof presetExplainView>;
export type PresetView = z.output<typeof presetView>;
export type NetworkView = z.output<typeof networkView>;
export type ExplainView = z.output<typeof explainView>;
export type PortRequest = z.output<typeof portRequest>;
export type PortView = z.output<typeof portView>;
export type PortRow = z.output<typeof portRow>;
