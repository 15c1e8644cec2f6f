/** What the WebSockets of clients and of spokes have in common. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';

/** Upgrades connections to one subprotocol. */
export class Upgrade {
  readonly #subprotocol: string;
  readonly #maxPayload: number;
  #server: Promise<WebSocketServer> | undefined;

  constructor(subprotocol: string, maxPayload: number) {
    this.#subprotocol = subprotocol;
    this.#maxPayload = maxPayload;
  }

  async accept(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    serve: (accepted: WebSocket) => void,
  ): Promise<void> {
    this.#server ??= this.#createServer();
    (await this.#server).handleUpgrade(request, socket, head, serve);
  }

  async #createServer(): Promise<WebSocketServer> {
    const { WebSocketServer } = await import('ws');
    const [name, maxPayload] = [this.#subprotocol, this.#maxPayload];
    const handleProtocols = (offered: Set<string>) => offered.has(name) && name;
    return new WebSocketServer({ noServer: true, maxPayload, perMessageDeflate: false, handleProtocols });
  }
}

/** Terminates a connection that does not answer pings. `isDue` is called before each; false: not this time. */
export function keepPinging(socket: WebSocket, pingMs: number, isDue: () => boolean): void {
  let isAlive = true;
  socket.on('pong', () => {
    isAlive = true;
  });
  const timer = setInterval(() => {
    if (!isDue()) return;
    if (!isAlive) return socket.terminate();
    isAlive = false;
    socket.ping();
  }, pingMs);
  timer.unref();
  socket.once('close', () => clearInterval(timer));
}

/** The text of a close frame, which has at most 123 bytes. */
export function closeReason(message: string): string {
  return Buffer.from(message).subarray(0, 120).toString();
}
