/** Answers a permission request by the owner's rule for that kind of tool, and never grants more than requested. */
import type { AcpSpec, ToolKind } from '../../model/agent.ts';

export interface Option {
  readonly optionId: string;
  readonly kind: string;
}

type Answer = { readonly outcome: 'cancelled' } | { readonly outcome: 'selected'; readonly optionId: string };

/** `once` is preferred to `always`, so that the next request gets its own decision. */
const wanted = { allow: ['allow_once', 'allow_always'], reject: ['reject_once', 'reject_always'] } as const;

export function answerPermission(spec: AcpSpec, kind: string, options: readonly Option[]): Answer {
  const rule = spec.permissions?.[kind as ToolKind] ?? 'allow';
  const found = wanted[rule].flatMap((one) => options.filter((option) => option.kind === one))[0];
  return found ? { outcome: 'selected', optionId: found.optionId } : { outcome: 'cancelled' };
}
