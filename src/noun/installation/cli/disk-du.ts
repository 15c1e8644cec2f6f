import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { formatSize } from '../../../model/size.ts';
import type { DiskView } from '../api/disk.ts';
import { spaceKinds } from '../model.ts';

interface Options {
  readonly all?: boolean;
}

export async function du(context: Context, { options }: Invocation<Options>): Promise<void> {
  const request = connect(context).call('GET /v1/disk');
  const { freeBytes } = await printAnswer(context, request, (view) => diskTable(view, options.all ?? false), {
    doing: 'measuring',
  });
  context.out.note(`${formatSize(freeBytes)} free; carrel clean frees what is not needed`);
}

/** One line for each kind, or with `all` also one for each name. */
export function diskTable({ uses }: DiskView, all: boolean): string[] {
  const sum = (kind: string) => uses.reduce((total, use) => total + (use.kind === kind ? use.sizeBytes : 0), 0);
  const kinds = spaceKinds.filter((kind) => sum(kind) > 0);
  const rows = kinds.flatMap((kind) => [
    [kind, right(sum(kind)), ''],
    ...(all
      ? uses.filter((use) => use.kind === kind).map((use) => ['', right(use.sizeBytes), plain(use.name ?? '')])
      : []),
  ]);
  const total = uses.reduce((bytes, use) => bytes + use.sizeBytes, 0);
  return table([...rows, ['total', right(total), '']]);
}

const sizeColumns = 8;

function right(bytes: number): string {
  return formatSize(bytes).padStart(sizeColumns);
}
