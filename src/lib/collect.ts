/** Streams read into memory up to a limit, since their writer may never end. */
import type { Readable } from 'node:stream';

/** The first bytes that arrived, at most `maxBytes`. The rest is read and dropped, so that the writer never blocks. */
export function collect(stream: Readable, maxBytes: number): () => Buffer {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    if (bytes < maxBytes) chunks.push(chunk);
    bytes += chunk.length;
  });
  return () => Buffer.concat(chunks).subarray(0, maxBytes);
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
