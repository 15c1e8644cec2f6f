import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { parseCount } from '../../../client/option.ts';
import { plain } from '../../../client/output/text.ts';

interface Options {
  readonly follow?: boolean;
  readonly after?: string;
}

/** An entry as the daemon sends it; fields that only a newer daemon has are shown with `--json`. */
export interface AuditRow {
  readonly at: string;
  readonly user: string | null;
  readonly as: string | null;
  readonly verb: string;
  readonly targets: readonly { readonly name: string }[];
  readonly outcome: string;
  readonly peer: { readonly uid: number; readonly pid: number } | null;
  readonly detail?: Readonly<Record<string, unknown>>;
}

export async function audit(context: Context, { options }: Invocation<Options>): Promise<void> {
  const query = {
    ...(options.after === undefined ? {} : { after: parseCount(options.after, '--after') }),
    ...(options.follow ? { follow: true } : {}),
  };
  for await (const entry of connect(context).sent<AuditRow>('GET /v1/audit', { query })) {
    if (context.json) context.out.document(entry, 0);
    else context.out.print(line(entry));
  }
}

/** One act as a line: time, user, verb, targets, outcome, and the process that made the request. */
export function line({ at, user, as, verb, targets, outcome, peer, detail = {} }: AuditRow): string {
  const details = Object.entries(detail).map(([key, value]) => `${key}=${text(value)}`);
  return plain(
    [
      at,
      as === null ? (user ?? '-') : `${user}(as ${as})`,
      verb,
      targets.map(({ name }) => name).join(',') || '-',
      outcome,
      peer === null ? '-' : `uid=${peer.uid} pid=${peer.pid}`,
      ...details,
    ].join(' '),
  );
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
