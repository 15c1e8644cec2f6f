/** Warns about what a new sandbox lacks of what the request asked for. */

import type { Output } from '../../../client/output/output.ts';
import { type Limits, optionsOf } from '../../../model/limits.ts';
import type { SandboxRequest, SandboxView } from '../api.ts';

/** The texts that a command has printed already: one that creates many sandboxes prints each text once. */
const printed = new WeakMap<Output, Set<string>>();

export function warnAboutFallback(out: Output, request: SandboxRequest, view: SandboxView): void {
  for (const text of [copyText(request, view), limitsText(request, view)]) if (text !== null) warnOnce(out, text);
}

/** The user asked for an overlay; a whole copy costs more disk and time. */
function copyText({ mode }: SandboxRequest, { name, workspace, project }: SandboxView): string | null {
  if (mode !== 'overlay' || workspace?.kind !== 'copy') return null;
  return `overlay is not possible here; ${name} works on a whole copy of ${project}`;
}

function limitsText({ limits: requested = {} }: SandboxRequest, { limits }: SandboxView): string | null {
  const named = (Object.keys(requested) as (keyof Limits)[]).filter((key) => limits.advisory.includes(key));
  if (named.length === 0) return null;
  return `${optionsOf(named)} cannot be enforced here: the sandbox may use more. carrel doctor shows what is missing; --strict refuses`;
}

function warnOnce(out: Output, text: string): void {
  const before = printed.get(out) ?? new Set();
  printed.set(out, before);
  if (!before.has(text)) out.warn(text);
  before.add(text);
}
