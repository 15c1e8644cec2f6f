import type { Context } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { formatSize } from '../../../model/size.ts';
import type { MemoryStatsView } from '../api.ts';

export async function memoryStats(context: Context): Promise<void> {
  const stats = await connect(context).call('GET /v1/memory');
  if (context.json) return context.out.document(stats);
  const { notes, bytes, quotaBytes, collections, embedding, searchesVectors, setAside, chroma } = stats;
  context.out.print(`${notes} notes, ${formatSize(bytes)} of ${formatSize(quotaBytes)}`);
  context.out.print(embedding === null ? 'vectors: only of callers' : `vectors: ${plain(embedding)}`);
  if (chroma !== null) context.out.print(chromaText(chroma));
  const rows = collections.map((one) => [
    plain(one.scope),
    plain(one.name),
    String(one.notes),
    plain(one.model ?? '-'),
  ]);
  if (rows.length > 0) context.out.print(...table([['SCOPE', 'COLLECTION', 'NOTES', 'MODEL'], ...rows]));
  if (!searchesVectors) context.out.warn('sqlite-vec cannot be loaded: notes are searched by their words only');
  for (const path of [...setAside, ...(chroma?.setAside ?? [])])
    context.out.warn(`a damaged file was set aside: ${path}`);
}

function chromaText({ state, version, reason }: NonNullable<MemoryStatsView['chroma']>): string {
  const more = state === 'ready' ? version : reason;
  return more === null ? `chroma: ${state}` : `chroma: ${state}, ${plain(more)}`;
}
