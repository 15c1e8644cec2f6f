/** The progress of a backup or a restore, as text for the progress line. */

import type { Context } from '../../../client/cli.ts';
import { connectRunning } from '../../../client/connect/connect.ts';
import { formatSize } from '../../../model/size.ts';
import type { VolumeWorkView } from '../api.ts';

/**
 * Each call of the result sends a request to the daemon and returns its last answer. `isOwn` selects the work of this
 * command.
 */
export function volumeWork(context: Context, first: string, isOwn: (work: VolumeWorkView) => boolean): () => string {
  // The command itself prints the warnings.
  const client = connectRunning(context, () => {});
  let text = first;
  let isReading = false;
  const read = async () => {
    isReading = true;
    const work = (await client.call('GET /v1/volumes/work').catch(() => [])).find(isOwn);
    if (work) text = workLine(work);
    isReading = false;
  };
  return () => {
    if (!isReading) void read();
    return text;
  };
}

function workLine({ doing, type, label, bytes, totalBytes }: VolumeWorkView): string {
  const total = totalBytes === null ? '' : ` of ${formatSize(totalBytes)}`;
  return `${doing} ${label ?? type}, ${formatSize(bytes)}${total}`;
}
