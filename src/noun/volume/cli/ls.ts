import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { age } from '../../../client/output/age.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { formatSize } from '../../../model/size.ts';
import type { BackupEntryView, VolumeView } from '../api.ts';
import { lastUseCell, nameCell, ownerCell } from './volume.ts';

type Options = { readonly allUsers?: boolean; readonly backups?: boolean };

export async function volumeLs(context: Context, { options }: Invocation<Options>): Promise<void> {
  const query = options.allUsers ? { allUsers: true } : {};
  if (options.backups) return backupsLs(context, query);
  const answer = connect(context).call('GET /v1/volumes', { query });
  await printAnswer(context, answer, volumeListing, { empty: 'no volumes; make yours with: carrel volume init' });
}

async function backupsLs(context: Context, query: { readonly allUsers?: boolean }): Promise<void> {
  const answer = connect(context).call('GET /v1/volumes/backups', { query });
  await printAnswer(context, answer, backupListing, { empty: 'no backups; make one with: carrel volume backup NAME' });
}

export function backupListing(backups: readonly BackupEntryView[], now?: number): string[] {
  const rows = backups.map((one) => [
    plain(one.label ?? one.type),
    ownerCell(one),
    formatSize(one.sizeBytes),
    age(one.createdAt, now),
    plain(one.file),
  ]);
  return table([['VOLUME', 'OWNER', 'SIZE', 'AGE', 'FILE'], ...rows]);
}

export function volumeListing(volumes: readonly VolumeView[], now?: number): string[] {
  const rows = volumes.map((one) => [
    nameCell(one),
    plain(one.type),
    ownerCell(one),
    age(one.createdAt, now),
    lastUseCell(one, now),
  ]);
  return table([['NAME', 'TYPE', 'OWNER', 'AGE', 'LAST USE'], ...rows]);
}
