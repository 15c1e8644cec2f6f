import type { z } from 'zod';
import { printAnswer } from '../../../client/answer.ts';
import type { Context } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import type { Colour, Output } from '../../../client/output/output.ts';
import { tableRows } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { faultTable } from '../../../model/fault.ts';
import type { probeRow } from '../api/doctor.ts';

type ProbeRow = z.infer<typeof probeRow>;

const marks: { readonly [level in 'ok' | 'warning' | 'failure']: readonly [mark: string, colour: Colour] } = {
  ok: ['✓', 'green'],
  warning: ['!', 'yellow'],
  failure: ['✗', 'red'],
};

export async function doctor(context: Context): Promise<number> {
  const request = connect(context).call('GET /v1/doctor');
  const rows = await printAnswer(context, request, (probes) => findings(probes, context.out), {
    doing: 'examining this machine',
  });
  return rows.some(({ level }) => level === 'failure') ? faultTable.unsupported.exit : 0;
}

/** A row for each probe, with its hint below it. */
export function findings(rows: readonly ProbeRow[], out: Output): string[] {
  const cells = rows.map(({ level, name, detail }) => {
    const [mark, colour] = marks[level];
    return [out.paint(colour, mark), plain(name), plain(detail)];
  });
  const hint = (row: ProbeRow) => (!row.hint ? [] : [`   ${out.paint('cyan', 'hint:')} ${plain(row.hint)}`]);
  return tableRows(cells, out.columns).flatMap((lines, index) => [...lines, ...hint(rows[index]!)]);
}
