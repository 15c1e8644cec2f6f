import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { parseCount } from '../../../client/option.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { stdinText } from '../../../client/stdin-text.ts';
import { parseDuration } from '../../../model/duration.ts';
import { formatSize } from '../../../model/size.ts';
import type { MemoryStatsView } from '../api.ts';
import { noteLines } from './note-text.ts';
import { checkNoteId, metadataIn, type PlaceOptions, placeOf } from './place.ts';

interface SaveOptions extends PlaceOptions {
  readonly meta?: readonly string[];
  readonly expires?: string;
  readonly key?: string;
}

/** More than any note may have: the daemon has the exact limit. */
const enoughBytes = 1024 ** 2;

export async function memorySave(context: Context, { args, options }: Invocation<SaveOptions>): Promise<void> {
  const { meta, expires, key } = options;
  const body = {
    text: await textOf(args),
    ...placeOf(options),
    ...(meta === undefined ? {} : { metadata: metadataIn(meta, '--meta') }),
    ...(expires === undefined ? {} : { expiresIn: parseDuration(expires, '--expires') / 1000 }),
    ...(key === undefined ? {} : { key }),
  };
  await printAnswer(context, connect(context).call('POST /v1/memory/notes', { body }), (note) => plain(note.id));
}

async function textOf(words: readonly string[]): Promise<string> {
  if (words.length > 1 || words[0] !== '-') return words.join(' ');
  return stdinText(enoughBytes);
}

interface SearchOptions extends PlaceOptions {
  readonly where?: readonly string[];
  readonly limit?: string;
}

export async function memorySearch(context: Context, { args, options }: Invocation<SearchOptions>): Promise<void> {
  const { where, limit } = options;
  const body = {
    text: args.join(' '),
    ...placeOf(options),
    ...(where === undefined ? {} : { where: metadataIn(where, '--where') }),
    ...(limit === undefined ? {} : { limit: parseCount(limit, '--limit', 1) }),
  };
  const answer = connect(context).call('POST /v1/memory/search', { body });
  await printAnswer(
    context,
    answer,
    (found) => found.flatMap(({ note }) => noteLines(note, context.out)).slice(0, -1),
    { empty: 'no notes found' },
  );
}

export async function memoryGet(context: Context, { args }: Invocation): Promise<void> {
  const answer = connect(context).call('GET /v1/memory/notes/{id}', { path: { id: checkNoteId(args[0]!) } });
  await printAnswer(context, answer, (note) => noteLines(note, context.out).slice(0, -1));
}

interface LsOptions extends PlaceOptions {
  readonly before?: string;
  readonly limit?: string;
}

export async function memoryLs(context: Context, { options }: Invocation<LsOptions>): Promise<void> {
  const { before, limit } = options;
  const query = {
    ...placeOf(options),
    ...(before === undefined ? {} : { before: checkNoteId(before) }),
    ...(limit === undefined ? {} : { limit: parseCount(limit, '--limit', 1) }),
  };
  const answer = connect(context).call('GET /v1/memory/notes', { query });
  await printAnswer(context, answer, (notes) => notes.flatMap((note) => noteLines(note, context.out)).slice(0, -1), {
    empty: 'no notes; save one with: carrel memory save TEXT',
  });
}

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
