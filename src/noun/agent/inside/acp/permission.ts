/** Answers a permission request by the owner's rule for that kind of tool, and never grants more than requested. */
import { clip } from '../../../../model/shape.ts';
import type { AcpSpec, ToolKind } from '../../model/agent.ts';

const maxOptions = 100;
const maxText = 10_000;

export interface Option {
  readonly optionId: string;
  readonly kind: string;
}

export interface PermissionRequest {
  /** The tool call as the agent sent it. */
  readonly call: Readonly<Record<string, unknown>>;
  /** The kind of the tool. */
  readonly kind: string;
  readonly options: readonly (Option & { readonly name: string })[];
}

type Answer = { readonly outcome: 'cancelled' } | { readonly outcome: 'selected'; readonly optionId: string };

/** `once` is preferred to `always`, so that the next request gets its own decision. */
const wanted = { allow: ['allow_once', 'allow_always'], reject: ['reject_once', 'reject_always'] } as const;

/** Reads the parameters of a request, whatever their shape; options without an id are left out. */
export function permissionRequest(params: unknown): PermissionRequest {
  const { toolCall, options } = (params ?? {}) as { readonly toolCall?: unknown; readonly options?: unknown };
  const call = typeof toolCall === 'object' && toolCall !== null ? (toolCall as PermissionRequest['call']) : {};
  return { call, kind: typeof call.kind === 'string' ? call.kind : 'other', options: optionsIn(options) };
}

function optionsIn(options: unknown): PermissionRequest['options'] {
  const all = Array.isArray(options) ? (options as Partial<Option & { name: string }>[]) : [];
  return all
    .filter((one) => typeof one?.optionId === 'string')
    .slice(0, maxOptions)
    .map(({ optionId, name, kind }) => ({
      optionId: optionId!,
      name: clip(String(name ?? optionId), maxText),
      kind: clip(String(kind ?? ''), maxText),
    }));
}

/** Undefined: the owner has no rule for this kind of tool. */
export function ruleFor({ permissions = {} }: AcpSpec, kind: string): 'allow' | 'reject' | undefined {
  return Object.hasOwn(permissions, kind) ? permissions[kind as ToolKind] : undefined;
}

export function answerPermission(spec: AcpSpec, kind: string, options: readonly Option[]): Answer {
  const rule = ruleFor(spec, kind) ?? 'allow';
  const found = wanted[rule].flatMap((one) => options.filter((option) => option.kind === one))[0];
  return found ? { outcome: 'selected', optionId: found.optionId } : { outcome: 'cancelled' };
}
