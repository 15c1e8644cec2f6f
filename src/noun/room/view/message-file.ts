/** A message as a file of processed/, and as an entry of thread.md. */
import type { RoomMessage } from '../model/room.ts';

export function fileNameOf({ id, from }: RoomMessage): string {
  return `${id}-${from}.md`;
}

/** A name is written as a plain YAML scalar, unless YAML could read it as something else. */
const plainScalar = /^[A-Za-z_][A-Za-z0-9._-]*$/;
const notText = /^(true|false|null|yes|no|on|off|y|n)$/i;

export function yamlText(text: string): string {
  return plainScalar.test(text) && !notText.test(text) ? text : JSON.stringify(text);
}

export function yamlList(texts: readonly string[]): string {
  return `[${texts.map(yamlText).join(', ')}]`;
}

export function fileTextOf({ id, from, at, mentions, replyTo, via, attachments, body }: RoomMessage): string {
  const lines = [
    `id: ${id}`,
    `from: ${yamlText(from)}`,
    `at: ${at}`,
    `mentions: ${yamlList(mentions)}`,
    ...(replyTo === null ? [] : [`reply_to: ${replyTo}`]),
    `via: ${via}`,
    ...(attachments.length === 0 ? [] : [`attachments: ${yamlList(attachments.map(({ name }) => name))}`]),
  ];
  return `---\n${lines.join('\n')}\n---\n${body}${body.endsWith('\n') ? '' : '\n'}`;
}

/** All characters that some program shows as the end of a line. */
const lineEnds = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;

export function threadEntryOf({ id, from, at, replyTo, attachments, body }: RoomMessage): string {
  const about = [
    `**${from}**`,
    `${at.slice(0, 10)} ${at.slice(11, 19)}Z`,
    id,
    ...(replyTo === null ? [] : [`reply to ${replyTo}`]),
    ...(attachments.length === 0 ? [] : [`files in attachments/${id}/`]),
  ];
  const lines = body.replace(/\n$/, '').split(lineEnds);
  return `${about.join(' · ')}\n\n${lines.map(quoted).join('\n')}\n\n`;
}

/** Removes control characters, because thread.md is meant to be shown in a terminal by `cat`. */
function quoted(line: string): string {
  const shown = line.replace(/\p{Cc}(?<!\t)/gu, '');
  return shown === '' ? '>' : `> ${shown}`;
}

export function orderLineOf(message: RoomMessage): string {
  return `${fileNameOf(message)}\n`;
}
