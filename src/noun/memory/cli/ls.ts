import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { parseCount } from '../../../client/option.ts';
import { noteLines } from './note-text.ts';
import { checkNoteId, type PlaceOptions, placeOf } from './place.ts';

interface Options extends PlaceOptions {
  readonly before?: string;
  readonly limit?: string;
}

export async function memoryLs(context: Context, { options }: Invocation<Options>): Promise<void> {
  const { before, limit } = options;
  const query = {
    ...placeOf(options),
    ...(before === undefined ? {} : { before: checkNoteId(before) }),
    ...(limit === undefined ? {} : { limit: parseCount(limit, '--limit', 1) }),
  };
  const notes = await connect(context).call('GET /v1/memory/notes', { query });
  if (context.json) return context.out.document(notes);
  context.out.print(...notes.flatMap((note) => noteLines(note, context.out)).slice(0, -1));
  if (notes.length === 0) context.out.note('no notes; save one with: carrel memory save TEXT');
}
