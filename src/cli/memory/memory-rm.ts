import { Fault } from '../../model/fault.ts';
import type { Context, Invocation } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { plain } from '../output/text.ts';
import { checkNoteId, metadataIn, type PlaceOptions, placeOf } from './place.ts';

interface Options extends PlaceOptions {
  readonly where?: readonly string[];
  readonly all?: boolean;
}

export default async function memoryRm(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const client = connect(context);
  const { where, all } = options;
  const selection = {
    ...placeOf(options),
    ...(where === undefined ? {} : { where: metadataIn(where, '--where') }),
    ...(all ? { all: true as const } : {}),
  };
  const isSelected = Object.keys(selection).length > 0;
  if (isSelected === args.length > 0) {
    throw new Fault('invalid', 'name notes by their ids, or by options, not both', {
      hint: 'To remove all notes: carrel memory rm --all',
    });
  }
  if (isSelected) {
    const { removed } = await client.call('POST /v1/memory/forget', { body: selection });
    if (context.json) return context.out.document({ removed });
    return context.out.note(`removed ${removed} notes`);
  }
  const removed = [];
  for (const id of args.map(checkNoteId))
    removed.push(await client.call('DELETE /v1/memory/notes/{id}', { path: { id } }));
  if (context.json) return context.out.document(removed);
  context.out.print(...removed.map(({ id }) => plain(id)));
}
