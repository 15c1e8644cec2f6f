import type { Context } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { hostPortText } from '../../../client/output/host-port.ts';
import type { Output } from '../../../client/output/output.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { paintState } from '../../sandbox/cli/state.ts';
import type { PortRow } from '../api.ts';

export async function portLs(context: Context): Promise<void> {
  const ports = await connect(context).call('GET /v1/ports');
  if (context.json) return context.out.document(ports);
  if (ports.length === 0) return context.out.note('no ports; add one with: carrel port add NAME PORT');
  context.out.print(...portListing(ports, context.out));
}

export function portListing(ports: readonly PortRow[], out: Output): string[] {
  const rows = ports.map((row) => [
    plain(row.sandbox),
    String(row.port),
    hostPortText(row),
    paintState(out, row.state),
  ]);
  return table([['SANDBOX', 'INSIDE', 'HERE', 'STATE'], ...rows]);
}
