/** The forms of DER (X.690) that certificates need: each value is tag, length and content. */

function tagged(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), length(content.length), content]);
}

/** A length below 128 is one byte; a larger one is the number of its bytes, then these. */
function length(bytes: number): Buffer {
  if (bytes < 0x80) return Buffer.from([bytes]);
  const digits = Buffer.from(even(bytes.toString(16)), 'hex');
  return Buffer.concat([Buffer.from([0x80 | digits.length]), digits]);
}

function even(hex: string): string {
  return hex.length % 2 === 0 ? hex : `0${hex}`;
}

export const sequence = (...parts: readonly Uint8Array[]) => tagged(0x30, ...parts);
export const set = (...parts: readonly Uint8Array[]) => tagged(0x31, ...parts);
export const octets = (content: Uint8Array) => tagged(0x04, content);
export const truth = tagged(0x01, Buffer.from([0xff]));
export const text = (value: string) => tagged(0x0c, Buffer.from(value));
/** The tag [n] around whole values. */
export const explicit = (n: number, ...parts: readonly Uint8Array[]) => tagged(0xa0 | n, ...parts);
/** The tag [n] in place of the tag of a plain value. */
export const implicit = (n: number, content: Uint8Array) => tagged(0x80 | n, content);

/** A positive integer from bytes, most significant first. */
export function integer(bytes: Uint8Array): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0);
  const digits = start < 0 ? Buffer.from([0]) : Buffer.from(bytes.subarray(start));
  return tagged(0x02, digits[0]! & 0x80 ? Buffer.from([0]) : Buffer.alloc(0), digits);
}

/** All bits of these bytes but the last `unused`. */
export function bits(bytes: Uint8Array, unused = 0): Buffer {
  return tagged(0x03, Buffer.from([unused]), bytes);
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return tagged(0x06, ...[first * 40 + second, ...rest].map(base128));
}

/** Seven bits per byte; all bytes but the last have the high bit set. */
function base128(value: number): Buffer {
  const digits = [value & 0x7f];
  for (let left = Math.floor(value / 0x80); left > 0; left = Math.floor(left / 0x80))
    digits.unshift((left & 0x7f) | 0x80);
  return Buffer.from(digits);
}

/** A time, with a two-digit year up to 2049 (RFC 5280). */
export function time(at: Date): Buffer {
  const digits = at.toISOString().replace(/\.\d+|[-:T]/g, '');
  return at.getUTCFullYear() < 2050 ? tagged(0x17, Buffer.from(digits.slice(2))) : tagged(0x18, Buffer.from(digits));
}
