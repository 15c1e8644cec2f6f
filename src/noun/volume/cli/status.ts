import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { formatSize } from '../../../model/size.ts';
import type { VolumeStatusView } from '../api.ts';
import { lastUseCell, nameCell, ownerCell } from './volume.ts';

type Options = { readonly allUsers?: boolean };

export async function volumeStatus(context: Context, { options }: Invocation<Options>): Promise<void> {
  const answer = connect(context).call('GET /v1/volumes/status', { query: options.allUsers ? { allUsers: true } : {} });
  const volumes = await printAnswer(context, answer, volumeUsage, {
    doing: 'measuring the volumes',
    empty: 'no volumes; make yours with: carrel volume init',
  });
  if (volumes.some(({ stale }) => stale))
    context.out.note('stale: unused for long; carrel volume clean NAME removes it');
}

export function volumeUsage(volumes: readonly VolumeStatusView[], now?: number): string[] {
  const rows = volumes.map((one) => [
    nameCell(one),
    plain(one.type),
    ownerCell(one),
    one.sizeBytes === null ? '-' : formatSize(one.sizeBytes),
    one.mountedBy.map(plain).join(', ') || '-',
    `${lastUseCell(one, now)}${one.stale ? ' (stale)' : ''}`,
  ]);
  return table([['NAME', 'TYPE', 'OWNER', 'SIZE', 'USED BY', 'LAST USE'], ...rows]);
}
