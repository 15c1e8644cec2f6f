/**
 * Inspects a tunnel that is not parsed because its first bytes were not HTTP. A tolerant server may still read HTTP in
 * it: junk before a request, or a line without a version. So the tunnel is closed if the client sends a line that ends
 * like a request line before the server has sent anything, or if the server responds with HTTP.
 */
import type { Inspection } from '../relay/relay.ts';

const versionAtEnd = /\shttp\/\d(?:\.\d)?\s*\n/i;
/** Such an end may begin in this many bytes of earlier chunks. */
const tailLength = 64;
/** After this many bytes without a request or a response the protocol is another one. */
const maxSentBytes = 64 * 1024;
const answer = 'HTTP/';

export class UnknownProtocol implements Inspection {
  isOver = false;
  readonly #cut: () => void;
  #tail = '';
  #sentBytes = 0;
  #begin = '';

  constructor(cut: () => void) {
    this.#cut = cut;
  }

  sent(chunk: Buffer): Buffer {
    if (this.#sentBytes > maxSentBytes) return chunk;
    this.#sentBytes += chunk.length;
    const text = this.#tail + chunk.toString('latin1');
    this.#tail = text.slice(-tailLength);
    return versionAtEnd.test(text) ? this.#end() : chunk;
  }

  /** Bytes that could still begin an HTTP response pass: the client may wait for them. */
  received(chunk: Buffer): Buffer {
    this.#begin += chunk.toString('latin1', 0, answer.length - this.#begin.length);
    if (this.#begin === answer) return this.#end();
    this.isOver = !answer.startsWith(this.#begin);
    return chunk;
  }

  #end(): Buffer {
    this.#cut();
    return Buffer.alloc(0);
  }
}
