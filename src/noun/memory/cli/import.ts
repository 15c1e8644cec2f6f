import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { Fault } from '../../../model/fault.ts';
import type { ImportRequest } from '../api.ts';
import { type PlaceOptions, placeOf } from './place.ts';

/** So many notes always fit into one request, whatever metadata they have. */
const maxNotes = 50;
const maxChars = 2_000_000;

export async function memoryImport(context: Context, { args, options }: Invocation<PlaceOptions>): Promise<void> {
  const client = connect(context);
  const place = placeOf(options);
  const total = { saved: 0, refused: [] as { id: string; reason: string }[] };
  for await (const notes of batches(args[0]!)) {
    const { saved, refused } = await client.call('POST /v1/memory/import', { body: { ...place, notes } });
    total.saved += saved;
    total.refused.push(...refused);
  }
  if (context.json) return context.out.document(total);
  context.out.note(`imported ${total.saved} notes`);
  for (const { id, reason } of total.refused) context.out.warn(`note ${id} is not imported: ${reason}`);
}

async function* batches(file: string): AsyncGenerator<ImportRequest['notes']> {
  let [notes, chars, number]: [ImportRequest['notes'], number, number] = [[], 0, 0];
  const input = file === '-' ? process.stdin : createReadStream(file);
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    if (line.trim() === '') continue;
    if (notes.length === maxNotes || chars + line.length > maxChars) {
      if (notes.length > 0) yield notes;
      [notes, chars] = [[], 0];
    }
    notes.push(parsed(line, number));
    chars += line.length;
  }
  if (notes.length > 0) yield notes;
}

/** Parses the JSON only; the daemon checks the fields. */
function parsed(line: string, number: number): ImportRequest['notes'][number] {
  try {
    return JSON.parse(line) as ImportRequest['notes'][number];
  } catch (cause) {
    throw new Fault('invalid', `line ${number} is not JSON`, { cause, hint: 'Import a file of carrel memory export.' });
  }
}
