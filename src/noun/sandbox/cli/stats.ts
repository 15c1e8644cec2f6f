import type { Context } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { formatSize } from '../../../model/size.ts';
import type { StatsView } from '../api.ts';

export async function stats(context: Context): Promise<void> {
  const all = await connect(context).call('GET /v1/stats');
  if (context.json) return context.out.document(all);
  if (all.length === 0) return context.out.note('no sandbox is running');
  context.out.print(...usage(all));
}

export function usage(all: readonly StatsView[]): string[] {
  const rows = all.map((one) => [
    plain(one.name),
    `${one.cpuSeconds.toFixed(1)}s`,
    limit(one, 'cpus', String(one.cpus)),
    `${formatSize(one.memoryBytes)} / ${limit(one, 'memoryBytes', formatSize(one.memoryLimitBytes))}`,
    `${one.pids} / ${limit(one, 'pids', String(one.pidsLimit))}`,
  ]);
  const lines = table([['NAME', 'CPU TIME', 'CPUS', 'MEMORY', 'PIDS'], ...rows]);
  return rows.flat().some((cell) => cell.endsWith('*')) ? [...lines, '* not enforced on this machine'] : lines;
}

function limit({ advisory }: StatsView, key: string, text: string): string {
  return advisory.includes(key) ? `${text}*` : text;
}
