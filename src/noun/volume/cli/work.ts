/** The progress of a backup or a restore, as text for the progress line. */

import type { Context } from '../../../client/cli.ts';
import { connectRunning } from '../../../client/connect/connect.ts';
import { formatSize } from '../../../model/size.ts';
import type { VolumeWorkView } from '../api.ts';

/**
 * Each call of the result asks the daemon again and returns its last answer. `isOurs` selects the work of this command.
 */
export function volumeWork(context: Context, first: string, isOurs: (work: VolumeWorkView) => boolean): () => string {
  // The command itself prints the warnings.
  const client = connectRunning(context, () => {});
  let text = first;
  let isAsking = false;
  const ask = async () => {
    isAsking = true;
    const work = (await client.call('GET /v1/volumes/work').catch(() => [])).find(isOurs);
    if (work) text = workLine(work);
    isAsking = false;
  };
  return () => {
    if (!isAsking) void ask();
    return text;
  };
}

function workLine({ doing, type, label, bytes, totalBytes }: VolumeWorkView): string {
  const total = totalBytes === null ? '' : ` of ${formatSize(totalBytes)}`;
  return `${doing} ${label ?? type}, ${formatSize(bytes)}${total}`;
}
