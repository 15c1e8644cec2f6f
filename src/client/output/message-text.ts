/** Messages as lines for a terminal. */

import { formatSize } from '../../model/size.ts';
import type { Output } from './output.ts';
import { plain } from './text.ts';

/** Controls, marks that change the direction of text, and separators of lines; newline and tab stay. */
const unshown = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069](?<![\n\t])/gu;

interface ShownMessage {
  readonly id: string;
  readonly from: string;
  readonly at: string;
  readonly replyTo: string | null;
  readonly attachments: readonly { readonly name: string; readonly bytes: number }[];
  readonly body: string;
}

export function messageLines(message: ShownMessage, out: Output): string[] {
  const { id, from, at, replyTo, attachments, body } = message;
  const head = [out.paint('bold', plain(from)), out.paint('dim', `${at.slice(0, 10)} ${at.slice(11, 19)}Z`), plain(id)];
  const about = [
    ...(replyTo === null ? [] : [`reply to ${plain(replyTo)}`]),
    ...attachments.map(({ name, bytes }) => `attached ${plain(name)}, ${formatSize(bytes)}`),
  ];
  return [head.join('  '), ...about.map((line) => `  ${out.paint('dim', line)}`), ...bodyLines(body), ''];
}

export function bodyLines(body: string): string[] {
  return body
    .replace(unshown, '')
    .replace(/\n+$/, '')
    .split('\n')
    .map((line) => `  ${line}`.trimEnd());
}
