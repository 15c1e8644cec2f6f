/** Whether a value is part of a text, as it is or in a common encoding. */

/** Shorter values occur by chance: they count only if they are the whole text. */
const minPartBytes = 8;

export function occurs(value: Buffer, text: string): boolean {
  const bytes = Buffer.from(text);
  const bare = withoutNewline(value);
  if (bytes.equals(value)) return true;
  if (bare.length < minPartBytes) return bare.length > 0 && inSmall(withoutNewline(bytes)) === inSmall(bare);
  if (bytes.length < bare.length) return false;
  return encodings.some((isIn) => isIn(bare, text));
}

/** A newline is often at the end of a file with a secret, but is not part of the secret. */
export const maxNewlineBytes = 2;

function withoutNewline(value: Buffer): Buffer {
  if (value.at(-1) !== 0x0a) return value;
  return value.subarray(0, value.at(-2) === 0x0d ? -2 : -1);
}

type IsIn = (value: Buffer, text: string) => boolean;

const encodings: readonly IsIn[] = [
  (value, text) => inSmall(Buffer.from(text)).includes(inSmall(value)),
  (value, text) => text.includes(JSON.stringify(value.toString()).slice(1, -1)),
  (value, text) => text.toLowerCase().includes(value.toString('hex')),
  (value, text) => percentDecoded(text).includes(value),
  (value, text) => percentDecoded(text.replaceAll('+', ' ')).includes(value),
  (value, text) => isInBase64(value, text),
];

/** Host names arrive in lower case. The comparison is byte by byte, since not every value is text. */
function inSmall(bytes: Buffer): string {
  return bytes.toString('latin1').toLowerCase();
}

/** The writer decides which characters are encoded, so the text is decoded instead. */
function percentDecoded(text: string): Buffer {
  const latin1 = Buffer.from(text).toString('latin1');
  const decoded = latin1.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(decoded, 'latin1');
}

/**
 * Searches in either base64 alphabet, with or without line breaks, and at any offset: three bytes make four characters.
 */
function isInBase64(value: Buffer, text: string): boolean {
  const standard = text.replace(/\s/g, '').replaceAll('-', '+').replaceAll('_', '/');
  return [0, 1, 2].some((before) => standard.includes(base64After(before, value)));
}

/** The base64 characters that depend on the value alone if `before` other bytes precede it. */
function base64After(before: number, value: Buffer): string {
  const encoded = Buffer.concat([Buffer.alloc(before), value]).toString('base64');
  return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + value.length) * 8) / 6));
}
