/**
 * JSON text in place of a value, encoded in a thread or for an earlier response: encoding a large value would block the
 * event loop.
 */
export class EncodedJson {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

/** The JSON of a response with values that are EncodedJson, as pieces of bytes; null: it has no such values. */
export function jsonPieces(answer: object): Uint8Array[] | null {
  if (answer instanceof EncodedJson) return [answer.bytes];
  const entries = Object.entries(answer);
  if (!entries.some(([, value]) => value instanceof EncodedJson)) return null;
  const defined = entries.filter(([, value]) => value !== undefined);
  const pieces = defined.flatMap(([key, value], index) => [
    Buffer.from(`${index === 0 ? '{' : ','}${JSON.stringify(key)}:`),
    value instanceof EncodedJson ? value.bytes : Buffer.from(JSON.stringify(value)),
  ]);
  return [...pieces, Buffer.from('}')];
}
