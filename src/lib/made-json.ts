/** JSON that was made elsewhere, in a thread say, or for an earlier answer, in place of its value: making that of a large value would keep a daemon from answering. */
export class MadeJson {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

/** An answer that is or has such parts, as the bytes of its JSON in pieces; null where it has none. */
export function jsonPieces(answer: object): Uint8Array[] | null {
  if (answer instanceof MadeJson) return [answer.bytes];
  const entries = Object.entries(answer);
  if (!entries.some(([, value]) => value instanceof MadeJson)) return null;
  const said = entries.filter(([, value]) => value !== undefined);
  const pieces = said.flatMap(([key, value], index) => [
    Buffer.from(`${index === 0 ? '{' : ','}${JSON.stringify(key)}:`),
    value instanceof MadeJson ? value.bytes : Buffer.from(JSON.stringify(value)),
  ]);
  return [...pieces, Buffer.from('}')];
}
