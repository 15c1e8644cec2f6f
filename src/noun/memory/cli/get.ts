import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { noteLines } from './note-text.ts';
import { checkNoteId } from './place.ts';

export async function memoryGet(context: Context, { args }: Invocation): Promise<void> {
  const note = await connect(context).call('GET /v1/memory/notes/{id}', { path: { id: checkNoteId(args[0]!) } });
  if (context.json) return context.out.document(note);
  context.out.print(...noteLines(note, context.out).slice(0, -1));
}
