/**
 * Names on disk are bytes and need not be text. A BytePath holds one character per byte (latin1), so that it compares,
 * splits and serves as a key like any string and still loses nothing.
 */
export type BytePath = string;

export function toBytes(path: BytePath): Buffer {
  return Buffer.from(path, 'latin1');
}

export function fromBytes(bytes: Uint8Array): BytePath {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

export function fromText(text: string): BytePath {
  return fromBytes(Buffer.from(text, 'utf8'));
}

/** The path as text for people; bytes that are not text become U+FFFD. */
export function toText(path: BytePath): string {
  return isAscii(path) ? path : toBytes(path).toString('utf8');
}

/** Whether all bytes are ASCII: then the characters of the path are its bytes in every encoding. */
export function isAscii(path: BytePath): boolean {
  return /^[\x00-\x7f]*$/.test(path);
}

/** False: `toText` would lose something. */
export function isText(path: BytePath): boolean {
  return isAscii(path) || fromText(toText(path)) === path;
}

/** The path itself or anything below it; the empty path holds everything. */
export function isWithin(path: BytePath, folder: BytePath): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`);
}
