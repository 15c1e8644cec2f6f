/** The names of agents: presets, and those that the owner declared in config.yaml. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readYaml } from '../../../lib/text/yaml.ts';
import { agentPresets } from '../../agent/model/table.ts';

export function agentNames(home: string): string[] {
  return [...Object.keys(agentPresets), ...declaredAgents(join(home, 'config.yaml'))];
}

function declaredAgents(file: string): string[] {
  try {
    const content = readYaml(readFileSync(file, 'utf8'), file).content as { agents?: object } | null;
    return Object.keys(content?.agents ?? {});
  } catch {
    // config.yaml is missing or cannot be read, ignoring: presets do not need it.
    return [];
  }
}
