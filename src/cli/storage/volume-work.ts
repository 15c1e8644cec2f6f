/** How far a backup or a restore is, for the line that shows progress. */
import type { VolumeWorkView } from '../../api/volume.ts';
import { formatSize } from '../../model/size.ts';
import type { Context } from '../cli.ts';
import { connectRunning } from '../connect/connect.ts';

/** Each call asks the daemon again, and returns what it answered last. `isOurs` tells the work of this command from others. */
export function volumeWork(context: Context, first: string, isOurs: (work: VolumeWorkView) => boolean): () => string {
  // The command itself prints warnings.
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
