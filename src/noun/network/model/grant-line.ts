/** The lines by which a person trusts hosts. */
import { canonicalRule } from './network.ts';

export function networkGrants(network: unknown): string[] {
  return Array.isArray(network) ? network.map((rule) => `network ${spelled(rule)}`) : [];
}

/** An invalid rule is refused where it is used, ignoring here. */
function spelled(rule: string): string {
  try {
    return canonicalRule(rule);
  } catch {
    return rule;
  }
}
