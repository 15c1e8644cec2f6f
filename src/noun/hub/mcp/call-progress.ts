/**
 * Progress of a call, for a client that asked for it. Some clients treat progress that they read together with the
 * answer as an error, and Claude Code then drops the connection. So before the answer is sent, the client must answer a
 * ping, which proves that it has read the progress. Clients over HTTP get no ping, because they read one event after
 * the other; neither do clients of 2026, which accept no requests.
 */
import type { ServerContext } from '@modelcontextprotocol/server';
import { OutputLimit } from '../../../lib/process/output-limit.ts';

const pingMs = 1000;

export class CallProgress {
  readonly #request: ServerContext['mcpReq'];
  readonly #confirms: boolean;
  readonly #limit = new OutputLimit();
  #sent = 0;

  constructor({ mcpReq, http }: ServerContext) {
    this.#request = mcpReq;
    this.#confirms = http === undefined && mcpReq.envelope === undefined;
  }

  report(message: string): void {
    const progressToken = this.#request._meta?.progressToken;
    const shown = progressToken === undefined ? null : this.#limit.take(message);
    if (progressToken === undefined || shown === null) return;
    this.#sent += 1;
    const params = { progressToken, progress: this.#sent, message: shown };
    // A client that is gone gets no answer either, ignoring.
    void this.#request.notify({ method: 'notifications/progress', params }).catch(() => {});
  }

  /** Resolves when the client has read all of it. */
  async read(): Promise<void> {
    if (this.#sent === 0 || !this.#confirms) return;
    // The answer matters more than the order, ignoring a client that does not reply.
    await this.#request.send({ method: 'ping' }, { timeout: pingMs, signal: this.#request.signal }).catch(() => {});
  }
}
