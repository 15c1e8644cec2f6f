/** Messages of a spoke. Any process in its sandbox could write in its place, so every answer is validated. */
import type { FaultBody } from '../../../model/fault.ts';
import { oneOf, open, plainObject, type Shape, text } from '../../../model/shape.ts';
import { type SpokeMethod, type SpokeMethods, spokeResults } from '../model/spoke.ts';
import { count } from '../model/spoke-value.ts';

export type SpokeMessage = { readonly id: number } & (
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'fault'; readonly fault: FaultBody }
  | { readonly kind: 'output'; readonly output: string }
);

/** The codes that a spoke may use. The others are reserved for the daemon. */
const code = oneOf(
  ...(['invalid', 'denied', 'not_found', 'conflict', 'exhausted', 'unsupported', 'unavailable'] as const),
  ...(['cancelled', 'internal'] as const),
);
const fault: Shape<FaultBody> = open({ code, message: text({ max: 2000 }) }, { hint: text({ max: 2000 }) });
const output = text();

/** Throws if the line is not a message. */
export function parseMessage(line: string): SpokeMessage {
  const fields = plainObject(JSON.parse(line), []);
  const id = count(fields.id, ['id']);
  if ('result' in fields) return { kind: 'result', id, result: fields.result };
  if ('fault' in fields) return { kind: 'fault', id, fault: fault(fields.fault, ['fault']) };
  return { kind: 'output', id, output: output(fields.output, ['output']) };
}

export function parseResult<M extends SpokeMethod>(method: M, result: unknown): SpokeMethods[M][1] {
  return spokeResults[method](result, []) as SpokeMethods[M][1];
}
