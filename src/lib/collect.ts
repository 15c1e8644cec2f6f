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

/** The last bytes that are pushed, at most `maxBytes`. */
export class LastBytes {
  readonly #maxBytes: number;
  #bytes = Buffer.alloc(0);

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push = (chunk: Buffer): void => {
    this.#bytes = Buffer.concat([this.#bytes, chunk]).subarray(-this.#maxBytes);
  };

  get bytes(): Buffer {
    return this.#bytes;
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
