import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { parseCount } from '../../../client/option.ts';
import { noteLines } from './note-text.ts';
import { metadataIn, type PlaceOptions, placeOf } from './place.ts';

interface Options extends PlaceOptions {
  readonly where?: readonly string[];
  readonly limit?: string;
}

export async function memorySearch(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const { where, limit } = options;
  const body = {
    text: args.join(' '),
    ...placeOf(options),
    ...(where === undefined ? {} : { where: metadataIn(where, '--where') }),
    ...(limit === undefined ? {} : { limit: parseCount(limit, '--limit', 1) }),
  };
  const found = await connect(context).call('POST /v1/memory/search', { body });
  if (context.json) return context.out.document(found);
  context.out.print(...found.flatMap(({ note }) => noteLines(note, context.out)).slice(0, -1));
  if (found.length === 0) context.out.note('no notes found');
}
