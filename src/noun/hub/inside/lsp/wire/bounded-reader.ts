/** Reads messages of a language server, each after a header with its length. A malformed or long one is an error. */
import type { Readable } from 'node:stream';
import { AbstractMessageReader, type DataCallback, type Disposable, type Message } from 'vscode-jsonrpc/node';
import { parseMessage } from '../answer/location-list.ts';

const maxHeaderBytes = 4096;
export const maxMessageBytes = 32 * 1024 * 1024;

export class BoundedReader extends AbstractMessageReader {
  readonly #stream: Readable;
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Length of the message whose header was read. */
  #length: number | null = null;

  constructor(stream: Readable) {
    super();
    this.#stream = stream;
  }

  listen(callback: DataCallback): Disposable {
    const take = (chunk: Buffer) => {
      try {
        this.#chunks.push(chunk);
        this.#bytes += chunk.length;
        for (let message = this.#next(); message !== null; message = this.#next()) callback(message);
      } catch (error) {
        this.#stream.off('data', take);
        this.#stream.resume();
        this.#chunks = [];
        this.fireError(error);
      }
    };
    this.#stream.on('data', take).once('close', () => this.fireClose());
    return { dispose: () => void this.#stream.off('data', take) };
  }

  /** The next message; null: it has not arrived completely yet. */
  #next(): Message | null {
    this.#length ??= this.#header();
    if (this.#length === null || this.#bytes < this.#length) return null;
    const body = this.#take(this.#length);
    this.#length = null;
    const message = parseMessage(body.toString('utf8'));
    if (typeof message !== 'object' || message === null) throw new Error('a message is not an object');
    return message as Message;
  }

  #header(): number | null {
    if (this.#bytes === 0) return null;
    const all = this.#joined();
    const end = all.subarray(0, maxHeaderBytes).indexOf('\r\n\r\n');
    if (end < 0) {
      if (all.length >= maxHeaderBytes) throw new Error('a message has no header');
      return null;
    }
    const length = Number(
      /^content-length: *(\d{1,12})$/im.exec(all.subarray(0, end).toString('latin1'))?.[1] ?? Number.NaN,
    );
    if (Number.isNaN(length)) throw new Error('a message has no length');
    if (length > maxMessageBytes) throw new Error(`a message has more than ${maxMessageBytes} bytes`);
    this.#take(end + 4);
    return length;
  }

  #joined(): Buffer {
    if (this.#chunks.length !== 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0]!;
  }

  #take(bytes: number): Buffer {
    const all = this.#joined();
    this.#chunks = [all.subarray(bytes)];
    this.#bytes -= bytes;
    return all.subarray(0, bytes);
  }
}
