/** Notes as lines for a terminal. */

import { bodyLines } from '../../../client/output/message-text.ts';
import type { Output } from '../../../client/output/output.ts';
import { plain } from '../../../client/output/text.ts';
import type { NoteView } from '../api.ts';

export function noteLines(note: NoteView, out: Output): string[] {
  const { id, scope, collection, text, metadata, by, at } = note;
  const head = [
    plain(id),
    out.paint('dim', `${at.slice(0, 10)} ${at.slice(11, 19)}Z`),
    out.paint('bold', author(note)),
  ];
  const pairs = Object.entries(metadata).map(([key, value]) => `${key}=${value}`);
  const about = [`${scope} ${collection}`, ...(by.agent === null ? [] : [`agent ${by.agent}`]), ...pairs].join('  ');
  return [head.join('  '), `  ${out.paint('dim', plain(about))}`, ...bodyLines(text), ''];
}

/** Names the author, because an agent may have written the text to mislead its reader. */
function author({ by, via, origin }: NoteView): string {
  if (via === 'import') return plain(`imported, says it is of ${origin?.by ?? 'an unknown author'}`);
  return by.kind === 'person' ? plain(by.name) : plain(`${by.kind} ${by.name}`);
}
