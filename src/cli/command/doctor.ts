import { consequences } from '../../model/fault.ts';
import type { Context } from '../context.ts';
import { connect } from '../daemon.ts';
import type { Colour } from '../output/output.ts';
import { during } from '../output/progress.ts';
import { table } from '../output/table.ts';
import { plain } from '../output/text.ts';

const marks: { readonly [level in 'ok' | 'warning' | 'failure']: readonly [mark: string, colour: Colour] } = {
  ok: ['✓', 'green'],
  warning: ['!', 'yellow'],
  failure: ['✗', 'red'],
};

export default async function doctor(context: Context): Promise<number> {
  const { out } = context;
  const rows = await during(out, 'examining this machine', connect(context).call('doctor'));
  if (out.json) out.document(rows);
  else {
    const lines = table(
      rows.map(({ level, name, detail }) => [out.paint(marks[level][1], marks[level][0]), plain(name), plain(detail)]),
    );
    rows.forEach(({ cure }, index) => {
      out.print(lines[index]!, ...(cure === null ? [] : [`   ${out.paint('cyan', 'cure:')} ${plain(cure)}`]));
    });
  }
  return rows.some(({ level }) => level === 'failure') ? consequences.unsupported.exit : 0;
}
