import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { plain } from '../../../client/output/text.ts';
import { Fault } from '../../../model/fault.ts';
import { checkNoteId, metadataIn, type PlaceOptions, placeOf } from './place.ts';

interface Options extends PlaceOptions {
  readonly where?: readonly string[];
  readonly all?: boolean;
  readonly chroma?: boolean;
}

export async function memoryRm(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const client = connect(context);
  const { where, all, chroma } = options;
  const selection = {
    ...placeOf(options),
    ...(where === undefined ? {} : { where: metadataIn(where, '--where') }),
    ...(all ? { all: true as const } : {}),
  };
  if (chroma) return eraseChroma(context, Object.keys(selection).length + args.length === 0);
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

async function eraseChroma(context: Context, isAlone: boolean): Promise<void> {
  if (!isAlone) throw new Fault('invalid', '--chroma removes all that is in Chroma: name nothing else');
  const answer = await connect(context).call('DELETE /v1/memory/chroma', {});
  if (context.json) return context.out.document(answer);
  context.out.note('removed what your sandboxes had in Chroma');
}
