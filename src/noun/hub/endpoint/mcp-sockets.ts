/**
 * MCP over WebSocket, subprotocol `mcp`: one JSON-RPC message in each text message. Both generations of the protocol, as on stdio. A client that sends
 * faster than its limits allow is read more slowly; one that does not answer pings is disconnected.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import type { WebSocket } from 'ws';
import type { Rate } from '../../../lib/flow/rate.ts';
import { parseBounded } from '../../../lib/wire/bounded-json.ts';
import { asFault, Fault } from '../../../model/fault.ts';
import { createServer, loadSdk, loadStdio, type McpParts } from '../mcp/mcp.ts';
import { PendingRequestTransport } from '../mcp/pending-request-transport.ts';
import { messageText } from '../mcp/result-text.ts';
import type { ClientIdentity } from '../token/authentication.ts';
import type { ClientTable, HubClient } from './client-table.ts';
import { closeReason, keepPinging, Upgrade } from './upgrade.ts';

export const subprotocol = 'mcp';

/** Codes for the close frame (RFC 6455), by the fault for which the hub closes a connection. */
const closeCodes = { unauthenticated: 1008, unavailable: 1001 } as const;
const goingAway = 1001;
/** Limits for one client: requests without an answer, and bytes of answers that it has not read. */
const maxUnanswered = 2000;
const maxUnreadBytes = 16 * 1024 * 1024;
const closeMs = 1000;
const messagesAtOnce = 20;

export interface SocketParts {
  readonly clients: ClientTable;
  readonly rate: Pick<Rate, 'take'>;
  readonly maxMessageBytes: number;
  readonly pingMs: number;
  partsOf(identity: ClientIdentity): McpParts;
}

export class McpSockets {
  readonly #parts: SocketParts;
  readonly #upgrade: Upgrade;

  constructor(parts: SocketParts) {
    this.#parts = parts;
    this.#upgrade = new Upgrade(subprotocol, parts.maxMessageBytes);
  }

  /** The request must be authenticated already. Throws only before the upgrade; later errors close the connection. */
  async accept(request: IncomingMessage, socket: Duplex, head: Buffer, identity: ClientIdentity): Promise<void> {
    const offered = request.headers['sec-websocket-protocol']?.split(',').map((name) => name.trim());
    if (!offered?.includes(subprotocol))
      throw new Fault('invalid', `a WebSocket needs the subprotocol ${subprotocol}`, {
        hint: `Send the header Sec-WebSocket-Protocol: ${subprotocol}`,
      });
    await this.#upgrade.accept(request, socket, head, (accepted) => void this.#serve(accepted, identity));
  }

  async #serve(socket: WebSocket, identity: ClientIdentity): Promise<void> {
    const { clients, partsOf } = this.#parts;
    const client = new SocketClient(socket, identity, this.#parts);
    socket.once('close', () => clients.delete(client));
    try {
      clients.add(client);
      await client.serve(partsOf(identity));
    } catch (error) {
      client.close(asFault(error));
    }
  }
}

class SocketClient implements HubClient {
  readonly identity: ClientIdentity;
  usedAtMs = Date.now();
  readonly #socket: WebSocket;
  readonly #parts: SocketParts;

  constructor(socket: WebSocket, identity: ClientIdentity, parts: SocketParts) {
    this.#socket = socket;
    this.identity = identity;
    this.#parts = parts;
    // The transport resumes it when the server that handles its messages exists.
    socket.pause();
    // After a message that is too large or a frame that violates the protocol, ws closes the connection.
    socket.on('error', () => {});
    // A connection that is not read, because its client is too fast, cannot show a pong.
    keepPinging(socket, parts.pingMs, () => !socket.isPaused || socket.bufferedAmount > maxUnreadBytes);
  }

  /** Always true: a connection whose client answers pings is in use. */
  get isBusy(): boolean {
    return true;
  }

  async serve(parts: McpParts): Promise<void> {
    const [{ serveStdio }, { parseJSONRPCMessage }] = await Promise.all([loadStdio(), loadSdk()]);
    const wire = new SocketTransport(this.#socket, {
      parse: parseJSONRPCMessage,
      admit: () => {
        this.identity.check();
        this.usedAtMs = Date.now();
        return this.#parts.rate.take(this.identity.caller.name);
      },
      isFull: () => transport.pendingCount >= maxUnanswered || this.#socket.bufferedAmount > maxUnreadBytes,
      refuse: (fault) => this.close(fault),
    });
    const transport = new PendingRequestTransport(wire, () => wire.deliver());
    serveStdio(() => createServer(parts), { transport });
  }

  close({ code, message }: Fault): void {
    const closeCode = code in closeCodes ? closeCodes[code as keyof typeof closeCodes] : goingAway;
    this.#socket.close(closeCode, closeReason(message));
    setTimeout(() => this.#socket.terminate(), closeMs).unref();
  }
}

interface Flow {
  parse(value: unknown): JSONRPCMessage;
  /** How many milliseconds the next message has to wait; throws if the client's token is no longer valid. */
  admit(): number;
  isFull(): boolean;
  refuse(fault: Fault): void;
}

class SocketTransport implements Transport {
  readonly #socket: WebSocket;
  readonly #flow: Flow;
  readonly #received: Buffer[] = [];
  #waiting: NodeJS.Timeout | undefined;
  #delivered = 0;
  #isPausing = false;
  onmessage?: NonNullable<Transport['onmessage']>;
  onclose?: () => void;
  onerror?: (error: Error) => void;

  constructor(socket: WebSocket, flow: Flow) {
    this.#socket = socket;
    this.#flow = flow;
  }

  async start(): Promise<void> {
    this.#socket.on('message', (data: Buffer) => {
      this.#received.push(data);
      this.deliver();
    });
    this.#socket.once('close', () => {
      clearTimeout(this.#waiting);
      this.#received.length = 0;
      this.onclose?.();
    });
    this.#socket.resume();
  }

  /**
   * Delivers messages until a limit is reached; then the connection is not read until there is room again. Yields to
   * other requests after every few messages.
   */
  deliver(): void {
    while (this.#received.length > 0) {
      if (this.#isPausing || this.#waiting !== undefined || this.#flow.isFull() || this.#hasToWait()) {
        this.#socket.pause();
        return;
      }
      this.#take(this.#received.shift()!);
      this.#delivered += 1;
      if (this.#delivered % messagesAtOnce === 0) this.#breathe();
    }
    this.#socket.resume();
  }

  #breathe(): void {
    this.#isPausing = true;
    setImmediate(() => {
      this.#isPausing = false;
      this.deliver();
    });
  }

  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      // As bytes, because ws would first count the bytes of a string.
      this.#socket.send(Buffer.from(messageText(message)), { binary: false }, (error) => {
        if (error) return reject(error);
        resolve();
        this.deliver();
      });
    });
  }

  async close(): Promise<void> {
    this.#socket.close();
  }

  #hasToWait(): boolean {
    try {
      const waitMs = this.#flow.admit();
      if (waitMs === 0) return false;
      this.#waiting = setTimeout(() => {
        this.#waiting = undefined;
        this.deliver();
      }, waitMs);
    } catch (error) {
      this.#received.length = 0;
      this.#flow.refuse(asFault(error));
    }
    return true;
  }

  #take(data: Buffer): void {
    let message: JSONRPCMessage;
    try {
      message = this.#flow.parse(parseBounded(data));
    } catch {
      const error = { code: -32700, message: 'Parse error: not a JSON-RPC message' };
      this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id: null, error }), () => {});
      return;
    }
    this.onmessage?.(message);
  }
}
