/** The parts of a mail, encoded so that `git am` reads back any text exactly. */

const asciiText = /^[ -~]*$/;
/** An encoded word has 75 characters at most, its frame and base64 included. */
const wordBytes = 42;

/** The value of a header, on as many lines as it takes. Line ends in the text become spaces. */
export function headerText(text: string): string {
  const line = text.replace(/[\s\u0000-\u001f\u007f]+/g, ' ').trim();
  if (asciiText.test(line) && !line.includes('=?') && line.length < 900) return line;
  return chunks(line)
    .map((part) => `=?UTF-8?B?${Buffer.from(part).toString('base64')}?=`)
    .join('\n ');
}

/** Parts of few bytes each, cut between characters. */
function chunks(text: string): string[] {
  const parts = [''];
  for (const character of text) {
    const longer = parts.at(-1)! + character;
    if (Buffer.byteLength(longer) > wordBytes) parts.push(character);
    else parts[parts.length - 1] = longer;
  }
  return parts;
}

export function address({ name, email }: { readonly name: string; readonly email: string }): string {
  const shown = headerText(name.replace(/[<>"\\@]/g, ''));
  return `${/^[\w .-]*$/.test(shown) || shown.startsWith('=?') ? shown : `"${shown}"`} <${email.replace(/[^!-;=?-~]/g, '')}>`;
}

export function mailDate(date: Date): string {
  return date.toUTCString().replace('GMT', '+0000');
}

/** Lines that would end the message, or be parsed as a header of it. */
const mistakable = /^(?:diff -|Index: |---|>?From\b|(?:From|Subject|Date):|\[PATCH\])/i;

/** The text of a message; a line that git would parse as something else is indented. */
export function bodyText(text: string): string {
  const lines = text.replaceAll('\0', '').split(/\r?\n/);
  return lines
    .map((line) => (mistakable.test(line) ? ` ${line}` : line))
    .join('\n')
    .trimEnd();
}

const maxLine = 76;
const escapes = Array.from({ length: 256 }, (_, byte) => {
  const literal = (byte >= 0x20 && byte <= 0x7e && byte !== 0x3d) || byte === 0x09;
  return literal ? String.fromCharCode(byte) : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`;
});

/** Lines in 7 bits: no transport and no reader strips their ends. */
export function quotedPrintable(bytes: Buffer): Buffer {
  const lines = bytes.toString('latin1').split('\n');
  return Buffer.from(lines.map(quotedLine).join('\n'), 'latin1');
}

function quotedLine(line: string): string {
  let done = '';
  let current = '';
  for (let at = 0; at < line.length; at += 1) {
    const code = line.charCodeAt(at);
    const last = at === line.length - 1;
    const next = last && (code === 0x20 || code === 0x09) ? (code === 0x20 ? '=20' : '=09') : escapes[code]!;
    if (current.length + next.length > maxLine - 1) {
      done += `${current}=\n`;
      current = '';
    }
    current += next;
  }
  return done + current;
}
