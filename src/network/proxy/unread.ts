/**
 * Looks at a tunnel that passes unread because its first bytes were no HTTP. A tolerant server may take it for HTTP all
 * the same: junk before a request, or a line without a version. So a line that ends like a request's, before the server
 * has spoken, ends the tunnel, and so does an answer that is HTTP.
 */
import type { Look } from './relay.ts';

const versionAtEnd = /\shttp\/\d(?:\.\d)?\s*\n/i;
/** What of earlier bytes such an end can begin in. */
const tailLength = 64;
/** After this much that is no request, and without an answer, it is some other protocol. */
const maxSentBytes = 64 * 1024;
const answer = 'HTTP/';

export class UnreadLook implements Look {
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

  /** The few bytes that are the same are passed on: the client may wait for one of them. */
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
