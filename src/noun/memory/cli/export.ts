import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { type PlaceOptions, placeOf } from './place.ts';

const pageSize = 100;

/** Exports from the newest note on, page by page: notes that are saved meanwhile are left out. */
export async function memoryExport(context: Context, { options }: Invocation<PlaceOptions>): Promise<void> {
  const client = connect(context);
  const place = placeOf(options);
  for (let before: string | undefined; ; ) {
    const query = { ...place, limit: pageSize, ...(before === undefined ? {} : { before }) };
    const notes = await client.call('GET /v1/memory/notes', { query });
    const ids = notes.filter(({ hasVector }) => hasVector).map(({ id }) => id);
    const found = ids.length === 0 ? [] : await client.call('POST /v1/memory/vectors', { body: { ids } });
    const vectors = new Map(found.map(({ id, ...vector }) => [id, vector]));
    for (const { id, scope, collection, text, metadata, by, at, expiresAt, origin } of notes) {
      const author = origin?.by ?? `${by.kind} ${by.name}`;
      const line = { id, scope, collection, text, metadata, by: author, at: origin?.at ?? at, expiresAt };
      context.out.print(JSON.stringify({ ...line, vector: vectors.get(id) }));
    }
    before = notes.at(-1)?.id;
    if (notes.length < pageSize) return;
  }
}
