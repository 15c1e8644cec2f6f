/** The settings of the agent API: checked when they arrive, and replaced as a whole. */

import { Fault } from '../../../model/fault.ts';
import { list, object, plainObject, record, type Shape, ShapeError, text, whole } from '../../../model/shape.ts';
import { type AcpSpec, agentSpec } from '../../agent/model/agent.ts';
import type { ApiSettings } from '../model/settings.ts';

const acpSpec: Shape<AcpSpec> = (value, path) => {
  const spec = agentSpec(value, path);
  if (spec.kind !== 'acp') throw new ShapeError([...path, 'kind'], 'must be "acp"');
  return spec;
};

const settings = object(
  {
    tokens: list(text({ pattern: /^[0-9a-f]{64}$/, says: 'a SHA-256 in hex' }), 100),
    agents: record({ pattern: /^[^\0-\x1f]{1,200}$/, says: 'the name of an agent' }, acpSpec, 100),
    defaultAgent: text({ min: 1, max: 200 }),
    mcpServers: list(plainObject, 100),
    sandbox: text({ max: 200 }),
    idleAgentSeconds: whole(1, 604_800),
  },
  { version: text({ max: 100 }) },
);

export function parseSettings(json: string): ApiSettings {
  try {
    return settings(JSON.parse(json), []);
  } catch (error) {
    throw new Fault('invalid', `the settings are not valid: ${(error as Error).message}`);
  }
}

/** Settings that are always the newest, for parts that keep a reference to them. */
export class LiveSettings implements ApiSettings {
  current: ApiSettings;

  constructor(first: ApiSettings) {
    this.current = first;
  }

  get tokens() {
    return this.current.tokens;
  }

  get agents() {
    return this.current.agents;
  }

  get defaultAgent() {
    return this.current.defaultAgent;
  }

  get mcpServers() {
    return this.current.mcpServers;
  }

  get sandbox() {
    return this.current.sandbox;
  }

  get idleAgentSeconds() {
    return this.current.idleAgentSeconds;
  }

  get version() {
    return this.current.version ?? '';
  }
}
