/** The proxy's port inside a sandbox: the first byte tells SOCKS from HTTP. */
import type { Socket } from 'node:net';
import { endpointText } from '../../../../model/host.ts';
import type { Forwarder } from '../../credential/credential.ts';
import type { RefusedAttempt } from '../../lookup.ts';
import type { Attached } from '../attached/attached.ts';
import { HttpFront } from '../http/http.ts';
import { takeTunnel } from '../tunnel/tunnel.ts';
import { endWith, firstBytes, type Inbound } from './inbound.ts';
import { greet, readRequest, replyFor, SocksReader, socksReplies, socksReply, socksVersion } from './socks.ts';

export class Front {
  readonly #http: HttpFront;

  readonly #forwarder: Forwarder;

  constructor(forwarder: Forwarder) {
    this.#forwarder = forwarder;
    this.#http = new HttpFront(forwarder);
  }

  async take(attached: Attached, socket: Socket): Promise<void> {
    attached.admit(socket);
    const late = AbortSignal.timeout(attached.attachment.limits.connectMs);
    const bytes = await firstBytes(socket, () => true, late);
    const inbound: Inbound = { attached, socket, fixed: null, spare: null };
    if (bytes === null) socket.destroy();
    else if (bytes[0] === socksVersion) await this.#socks(inbound);
    else this.#http.take(inbound);
  }

  async #socks(inbound: Inbound): Promise<void> {
    const { socket, attached } = inbound;
    const reader = new SocksReader(socket);
    const late = setTimeout(() => socket.destroy(), attached.attachment.limits.connectMs);
    let text = '';
    await takeTunnel({
      inbound,
      via: 'socks',
      text: () => text,
      read: async () => {
        try {
          await greet(reader, socket);
          const endpoint = await readRequest(reader);
          text = endpointText(endpoint);
          return endpoint;
        } finally {
          clearTimeout(late);
          reader.close();
        }
      },
      accept: () => void socket.write(socksReply(socksReplies.done)),
      answer: (refused: RefusedAttempt) => endWith(socket, socksReply(replyFor(refused))),
      http: this.#http,
      forwarder: this.#forwarder,
    });
  }
}
