/** Streams read into memory up to a limit, since their writer may never end. */
import type { Readable } from 'node:stream';

/** The first bytes that arrived, at most `maxBytes`. The rest is read and dropped, so that the writer never blocks. */
export function collect(stream: Readable, maxBytes: number): () => Buffer {
  const first = new FirstBytes(maxBytes);
  stream.on('data', first.push);
  return () => first.bytes;
}

/** The first bytes that are pushed, at most `maxBytes`. */
export class FirstBytes {
  readonly #maxBytes: number;
  readonly #chunks: Buffer[] = [];
  #count = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push = (chunk: Buffer): void => {
    if (this.#count < this.#maxBytes) this.#chunks.push(chunk);
    this.#count += chunk.length;
  };

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks).subarray(0, this.#maxBytes);
  }
}

const maxChunks = 1000;

/** The last bytes that are pushed, at most `maxBytes`. */
export class LastBytes {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #count = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push = (chunk: Buffer): void => {
    this.#chunks.push(chunk);
    this.#count += chunk.length;
    if (this.#count > 2 * this.#maxBytes || this.#chunks.length > maxChunks) this.#compact();
  };

  get bytes(): Buffer {
    this.#compact();
    return this.#chunks[0]!;
  }

  #compact(): void {
    this.#chunks = [Buffer.from(Buffer.concat(this.#chunks).subarray(-this.#maxBytes))];
    this.#count = this.#chunks[0]!.length;
  }
}

/** The first bytes of a stream, at most `maxBytes`; then the stream is cancelled. `look` sees each chunk as it arrives. */
export async function firstBytes(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
  look: (chunk: Uint8Array) => void = () => {},
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    look(chunk);
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}
