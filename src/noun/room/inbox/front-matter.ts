/**
 * The front matter of a posted text. Only lines that are fields of a message count, so no YAML is parsed; a text whose front matter has
 * anything else, the page of a site for example, is posted as it is.
 */
import { ulidPattern } from '../../../model/ulid.ts';

const field = /^(id|from|at|mentions|reply_to|via|attachments):(.*)$/;
const maxBytes = 4096;

export interface PostedText {
  readonly body: string;
  readonly replyTo: string | null;
}

export function readPosted(text: string): PostedText {
  const lines = headLines(text);
  if (lines === null) return { body: text, replyTo: null };
  const replyTo = lines.find((line) => line.startsWith('reply_to:'))?.slice('reply_to:'.length) ?? '';
  const id = replyTo.trim().replaceAll(/^["']|["']$/g, '');
  const body = text.slice(lines.reduce((sum, line) => sum + line.length + 1, '---\n---\n'.length));
  return { body, replyTo: ulidPattern.test(id) ? id : null };
}

/** The lines between the first two `---`; null: there is no front matter of a message. */
function headLines(text: string): readonly string[] | null {
  if (!text.startsWith('---\n')) return null;
  const lines = text.slice(0, maxBytes).split('\n').slice(1);
  const end = lines.indexOf('---');
  const head = lines.slice(0, end);
  return end > 0 && head.every((line) => field.test(line)) ? head : null;
}
