/** Bytes of files as clients of the hub see them, and edits of text. */
import { createHash } from 'node:crypto';
import { linesOf } from '../../../../lib/text/text.ts';
import { Fault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';
import { type FileContent, maxFileBytes, type TextEdit } from '../../model/spoke.ts';

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Refuses content that the encoding would change. */
export function bytesOf({ encoding, content }: FileContent): Buffer {
  const isValid = encoding === 'base64' ? isBase64(content) : content.isWellFormed();
  if (isValid) return Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8');
  const what = encoding === 'base64' ? 'base64' : 'Unicode text';
  throw new Fault('invalid', `content is not ${what}`, { data: { field: 'content' } });
}

function isBase64(text: string): boolean {
  const plain = text.replaceAll(/[\r\n]/g, '');
  return plain.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(plain);
}

/** Edits by line refer to the text before all edits, so they are done first, and from the end. */
export function edited(text: string, edits: readonly TextEdit[], path: string): string {
  const byLine = edits.filter((edit) => 'startLine' in edit).toSorted((a, b) => b.startLine - a.startLine);
  const byText = edits.filter((edit) => 'oldText' in edit);
  const lines = linesOf(text);
  let before = lines.length + 1;
  for (const { startLine, endLine, newText } of byLine) {
    if (startLine > endLine + 1 || endLine > lines.length || endLine >= before)
      throw badLines(startLine, endLine, path);
    lines.splice(startLine - 1, endLine - startLine + 1, newText);
    before = startLine;
  }
  return byText.reduce((now, { oldText, newText }) => replaceOnce(now, oldText, newText, path), lines.join(''));
}

function badLines(startLine: number, endLine: number, path: string): Fault {
  return new Fault('conflict', `${printable(path)} has no lines ${startLine} to ${endLine} that could be replaced`, {
    hint: 'Read the file again; edits by line must not overlap.',
  });
}

function replaceOnce(text: string, oldText: string, newText: string, path: string): string {
  const at = text.indexOf(oldText);
  if (at >= 0 && text.indexOf(oldText, at + 1) < 0)
    return text.slice(0, at) + newText + text.slice(at + oldText.length);
  const how = at < 0 ? 'does not have' : 'has more than once';
  throw new Fault('conflict', `${printable(path)} ${how} the text ${printable(oldText, 60)}`, {
    hint: at < 0 ? 'Read the file again.' : 'Give more of the text around it.',
  });
}

export function tooLarge(path: string): Fault {
  return new Fault('exhausted', `${printable(path)} is larger than ${maxFileBytes} bytes`);
}
