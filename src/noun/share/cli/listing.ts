/** Shares as a table: a line for each consumer. */

import type { Context } from '../../../client/cli.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import type { ShareView } from '../api.ts';

export function shareListing(shares: readonly ShareView[]): string[] {
  const rows = shares.flatMap(({ name, folder, consumers }) =>
    consumers.length === 0
      ? [[plain(name), plain(folder), '-', '-', '-', 'no consumer']]
      : consumers.map(({ consumer, path, readonly, state, detail }) => [
          plain(name),
          plain(folder),
          plain(consumer.replace(/^sandbox:/, '')),
          plain(path),
          readonly ? 'ro' : 'rw',
          plain(detail === null ? state : `${state}: ${detail}`),
        ]),
  );
  return table([['SHARE', 'FOLDER', 'CONSUMER', 'PATH', 'ACCESS', 'STATE'], ...rows]);
}

export function warn(context: Context, shares: readonly ShareView[]): void {
  for (const { name, warnings } of shares) for (const one of warnings) context.out.warn(`share ${name}: ${one}`);
}
