import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { parseCount } from '../../../client/option.ts';
import type { Output } from '../../../client/output/output.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { checkSandboxName } from '../../../model/name.ts';
import { formatSize } from '../../../model/size.ts';

interface Options {
  readonly follow?: boolean;
  readonly tail?: string;
}

/** A line of the log: the decision on an attempt, or the later course of an allowed attempt. */
export interface NetworkLogLine {
  readonly at: string;
  readonly attempt: string;
  readonly via?: string;
  readonly asked?: string;
  readonly decision?: 'allow' | 'refuse';
  readonly rule?: string | null;
  readonly sentBytes?: number;
  readonly receivedBytes?: number;
  readonly durationMs?: number;
  readonly reason: string | null;
  readonly refusal?: string | null;
}

/** The line for the decision on one attempt. */
export function attemptLine(line: NetworkLogLine, out: Output): string {
  return table([cells(line, out)], null).join('\n');
}

export async function netLog(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const query = {
    ...(options.follow ? { follow: true } : {}),
    ...(options.tail === undefined ? {} : { tail: parseCount(options.tail, '--tail') }),
  };
  const path = { name: checkSandboxName(args[0]!) };
  const lines = connect(context).sent<NetworkLogLine>('GET /v1/sandboxes/{name}/network/log', { path, query });
  if (context.json) for await (const line of lines) context.out.document(line, 0);
  else if (options.follow) await follow(lines, context.out);
  else context.out.print(...listing(await all(lines), context.out));
}

async function all(lines: AsyncIterable<NetworkLogLine>): Promise<NetworkLogLine[]> {
  const found: NetworkLogLine[] = [];
  for await (const line of lines) found.push(line);
  return found;
}

/** Prints each attempt as it happens: one line for the decision, one for the end. */
async function follow(lines: AsyncIterable<NetworkLogLine>, out: Output): Promise<void> {
  const open = new Map<string, NetworkLogLine>();
  for await (const line of lines) {
    const before = open.get(line.attempt);
    if (line.decision === 'allow') open.set(line.attempt, line);
    else open.delete(line.attempt);
    if (line.decision !== undefined || before) out.print(...table([cells({ ...before, ...line }, out)]));
  }
}

/** One row for each attempt, with its decision and its end. */
export function listing(lines: readonly NetworkLogLine[], out: Output): string[] {
  const attempts = new Map<string, NetworkLogLine>();
  for (const line of lines) {
    const before = attempts.get(line.attempt);
    // The log has the end of this attempt, but no longer its decision.
    if (!before && line.decision === undefined) continue;
    attempts.set(line.attempt, { ...before, ...line, at: before?.at ?? line.at });
  }
  if (attempts.size === 0) return [];
  const head = ['TIME', 'DECISION', 'HOST', 'VIA', 'RULE', 'SENT', 'RECEIVED', 'TOOK', 'WHY'];
  return table([head, ...[...attempts.values()].map((line) => cells(line, out))]);
}

/** The time without the date, to save columns on a terminal. */
function timeOfDay(at: string): string {
  const when = new Date(at);
  return Number.isNaN(when.getTime()) ? plain(at) : when.toLocaleTimeString('en-GB', { hour12: false });
}

function cells(line: NetworkLogLine, out: Output): string[] {
  const { at, decision, asked = '', via = '', rule, sentBytes, receivedBytes, durationMs, reason } = line;
  return [
    out.columns === null ? plain(at) : timeOfDay(at),
    decision === 'allow' ? out.paint('green', 'allow ') : out.paint('red', 'refuse'),
    asked === '' ? '-' : plain(asked),
    plain(via),
    rule ? plain(rule) : '-',
    sentBytes === undefined ? '-' : formatSize(sentBytes),
    receivedBytes === undefined ? '-' : formatSize(receivedBytes),
    durationMs === undefined ? '-' : `${durationMs}ms`,
    reason === null ? '' : plain(reason),
  ];
}
