/** The part of `ws` that is used here; the package has no types of its own. */
declare module 'ws' {
  import type { EventEmitter } from 'node:events';
  import type { IncomingMessage } from 'node:http';
  import type { Duplex } from 'node:stream';

  export class WebSocket extends EventEmitter {
    constructor(url: string, protocol?: string, options?: { readonly headers: Readonly<Record<string, string>> });
    readonly bufferedAmount: number;
    readonly isPaused: boolean;
    send(data: string, sent?: (error?: Error) => void): void;
    send(data: Uint8Array, options: { readonly binary: boolean }, sent?: (error?: Error) => void): void;
    ping(): void;
    pause(): void;
    resume(): void;
    close(code?: number, reason?: string): void;
    terminate(): void;
  }

  export class WebSocketServer {
    constructor(options: {
      readonly noServer: true;
      readonly maxPayload: number;
      readonly perMessageDeflate: false;
      readonly handleProtocols: (offered: Set<string>) => string | false;
    });
    handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, accepted: (socket: WebSocket) => void): void;
  }
}
