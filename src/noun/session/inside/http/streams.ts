/**
 * Streamed answers with back-pressure: pieces are taken from their source only as fast as the client reads, so a slow
 * client costs a position, not memory. A client that reads nothing for a while is disconnected; it can resume at its
 * position.
 */
import type { ServerResponse } from 'node:http';
import { corkForTurn, endCorked } from '../../../../lib/wire/cork.ts';
import { Fault } from '../../../../model/fault.ts';
import type { ApiLimits } from './limit.ts';
import { faultOf, type Pieces } from './reply.ts';

interface Open {
  readonly heartbeat: string;
  readonly isAllowed: () => boolean;
}

export class EventStreams {
  readonly #limits: Pick<ApiLimits, 'heartbeatMs' | 'stallMs'>;
  readonly #open = new Map<ServerResponse, Open>();
  readonly #timer: NodeJS.Timeout;

  constructor(limits: Pick<ApiLimits, 'heartbeatMs' | 'stallMs'>) {
    this.#limits = limits;
    this.#timer = setInterval(() => this.#beat(), limits.heartbeatMs).unref();
  }

  dispose(): void {
    clearInterval(this.#timer);
  }

  /** Sends until the source or the connection ends. If `isAllowed` returns false, the next heartbeat ends it. */
  async send(
    response: ServerResponse,
    { pieces, headers, heartbeat, failed }: Pieces,
    isAllowed: () => boolean,
  ): Promise<void> {
    response.writeHead(200, headers);
    response.flushHeaders();
    if (heartbeat !== undefined) this.#open.set(response, { heartbeat, isAllowed });
    try {
      for await (const piece of pieces) await this.#write(response, piece);
      endCorked(response);
    } catch (error) {
      if (failed === undefined || !response.writable) response.destroy();
      else endCorked(response, failed(faultOf(error)));
    } finally {
      this.#open.delete(response);
    }
  }

  async #write(response: ServerResponse, piece: string): Promise<void> {
    if (response.destroyed) throw new Fault('cancelled', 'the client disconnected');
    corkForTurn(response);
    if (response.write(piece)) return;
    await drained(response, this.#limits.stallMs);
  }

  /** Sends heartbeats, except to clients with unread data. */
  #beat(): void {
    for (const [response, { heartbeat, isAllowed }] of this.#open) {
      if (!isAllowed()) response.destroy();
      else if (!response.writableNeedDrain) response.write(heartbeat);
    }
  }
}

/** Rejects when the connection is closed. A client that reads nothing for too long is disconnected. */
function drained(response: ServerResponse, stallMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      clearTimeout(timer);
      response.off('drain', read);
      response.off('close', lost);
      act();
    };
    const read = () => settle(resolve);
    const lost = () => settle(() => reject(new Fault('cancelled', 'the client disconnected')));
    const timer = setTimeout(() => response.destroy(), stallMs);
    response.once('drain', read);
    response.once('close', lost);
  });
}
