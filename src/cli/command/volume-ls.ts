import type { VolumeView } from '../../api/routes.ts';
import type { Context, Invocation } from '../context.ts';
import { connect } from '../daemon.ts';
import { age } from '../output/age.ts';
import { table } from '../output/table.ts';
import { plain } from '../output/text.ts';
import { lastUseCell, ownerCell } from '../volume.ts';

type Options = { readonly allUsers?: boolean };

export default async function volumeLs(context: Context, { options }: Invocation<Options>): Promise<void> {
  const volumes = await connect(context).call('listVolumes', { query: options.allUsers ? { allUsers: true } : {} });
  if (context.json) return context.out.document(volumes);
  if (volumes.length === 0) return context.out.note('no volumes; make yours with: carrel volume init');
  context.out.print(...volumeListing(volumes));
}

export function volumeListing(volumes: readonly VolumeView[], now?: number): string[] {
  const rows = volumes.map((one) => [
    plain(one.name),
    plain(one.type),
    ownerCell(one),
    age(one.createdAt, now),
    lastUseCell(one, now),
  ]);
  return table([['NAME', 'TYPE', 'OWNER', 'AGE', 'LAST USE'], ...rows]);
}
