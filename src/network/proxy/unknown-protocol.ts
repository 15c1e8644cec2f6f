/**
 * Inspects a tunnel that passes as it is because its first bytes were no HTTP. A tolerant server may still read HTTP in it:
 * junk before a request, or a line without a version. So a line that ends like a request line, before the server has sent
 * anything, closes the tunnel, and so does a response that is HTTP.
 */
import type { Inspection } from './relay.ts';

const versionAtEnd = /\shttp\/\d(?:\.\d)?\s*\n/i;
/** Such an end can begin in this many earlier bytes. */
const tailLength = 64;
/** After this much without a request or a response it is another protocol. */
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
