import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { plain } from '../../../client/output/text.ts';
import { stdinText } from '../../../client/stdin-text.ts';
import { parseDuration } from '../../../model/duration.ts';
import { metadataIn, type PlaceOptions, placeOf } from './place.ts';

interface Options extends PlaceOptions {
  readonly meta?: readonly string[];
  readonly expires?: string;
  readonly key?: string;
}

/** More than any note may have: the daemon has the exact limit. */
const enoughBytes = 1024 ** 2;

export async function memorySave(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const { meta, expires, key } = options;
  const body = {
    text: await textOf(args),
    ...placeOf(options),
    ...(meta === undefined ? {} : { metadata: metadataIn(meta, '--meta') }),
    ...(expires === undefined ? {} : { expiresIn: parseDuration(expires, '--expires') / 1000 }),
    ...(key === undefined ? {} : { key }),
  };
  const note = await connect(context).call('POST /v1/memory/notes', { body });
  if (context.json) return context.out.document(note);
  context.out.print(plain(note.id));
}

async function textOf(words: readonly string[]): Promise<string> {
  if (words.length > 1 || words[0] !== '-') return words.join(' ');
  return stdinText(enoughBytes);
}
