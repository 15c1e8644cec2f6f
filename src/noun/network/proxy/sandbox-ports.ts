/** All ports of one sandbox: listeners inside it, and ports of the host that are forwarded into it. */
import type { Socket } from 'node:net';
import { asFault, type Fault } from '../../../model/fault.ts';
import type { CredentialKey } from '../credential/credential.ts';
import type { PortForward } from '../model/network.ts';
import { type Attachment, insidePorts } from '../network.ts';
import { Attached } from './attached/attached.ts';
import { credentialCall } from './attached/call.ts';
import { ForwardedPort } from './port/port-forward.ts';
import { takeService } from './port/service.ts';
import type { ProxyParts } from './proxy.ts';
import { Listener } from './socket/listener.ts';

type Accept = (socket: Socket) => void;

export class SandboxPorts {
  readonly attached: Attached;
  readonly #parts: ProxyParts;
  readonly #inside = new Map<number, Listener>();
  readonly #forwarded = new Map<string, ForwardedPort>();
  #isClosed = false;

  constructor(attachment: Attachment, parts: ProxyParts) {
    this.#parts = parts;
    this.attached = new Attached(attachment, parts.lookUp, parts.serial);
    this.attached.onRoom = () => {
      for (const listener of this.#inside.values()) listener.resume();
    };
  }

  /** Opens the wanted ports and closes the others. It tries all of them, then throws the first failure. */
  async change(attachment: Attachment): Promise<void> {
    this.attached.change(attachment);
    this.#closeOthers(attachment);
    const failures: Fault[] = [];
    const tried = async (act: () => Promise<void>) =>
      act().catch((error: unknown) => void failures.push(asFault(error)));
    for (const port of wantedPorts(attachment)) await tried(() => this.#listen(port));
    for (const forward of attachment.ports) await tried(() => this.#forward(forward));
    if (failures[0]) throw failures[0];
  }

  close(): void {
    this.#isClosed = true;
    for (const listener of this.#inside.values()) listener.close();
    for (const port of this.#forwarded.values()) port.close();
    this.attached.end();
  }

  #closeOthers(attachment: Attachment): void {
    const inside = new Set(wantedPorts(attachment));
    for (const [port, listener] of this.#inside) if (!inside.has(port)) close(this.#inside, port, listener);
    const forwarded = new Set(attachment.ports.map(keyOf));
    for (const [key, port] of this.#forwarded) if (!forwarded.has(key)) close(this.#forwarded, key, port);
  }

  async #listen(port: number): Promise<void> {
    if (this.#inside.has(port)) return;
    const fd = await this.#parts.sockets.listen(this.attached.attachment.init, port);
    const listener = new Listener(fd, this.attached.gate, (socket) => this.#accept(port)(socket));
    if (this.#isClosed) listener.close();
    else this.#inside.set(port, listener);
  }

  async #forward(forward: PortForward): Promise<void> {
    const key = keyOf(forward);
    if (this.#forwarded.has(key)) return;
    const { meter, attachment } = this.attached;
    const { sockets, forwarder } = this.#parts;
    const inside = { meter, init: attachment.init, sockets, forwarder };
    const opened = await ForwardedPort.open(forward, inside);
    if (this.#isClosed) opened.close();
    else this.#forwarded.set(key, opened);
  }

  /** The handler for a connection, by the current purpose of the port. */
  #accept(port: number): Accept {
    const { services, credentials } = this.attached.attachment;
    const service = services.find((one) => one.port === port);
    if (service) return (socket) => takeService(this.attached, service, socket, this.#parts.forwarder);
    const credential = credentials.find((one) => one.insidePort === port);
    if (credential) return (socket) => this.#call(credential, socket);
    return (socket) => void this.#parts.front.take(this.attached, socket);
  }

  #call(credential: CredentialKey, socket: Socket): void {
    this.attached.admit(socket);
    this.#parts.forwarder.answer(credentialCall(this.attached, credential, socket, null));
  }
}

/**
 * The ports to listen at inside. The proxy's own port is among them only if rules or credentials need it, and comes
 * last: a command may wait for it (`noun/network/launch.ts`).
 */
function wantedPorts({ allow, services, credentials }: Attachment): number[] {
  const needsProxy = allow.length > 0 || credentials.length > 0;
  return [
    ...services.map(({ port }) => port),
    ...credentials.map(({ insidePort }) => insidePort),
    ...(needsProxy ? [insidePorts.proxy] : []),
  ];
}

function keyOf({ hostAddress, hostPort, port }: PortForward): string {
  return `${hostAddress} ${hostPort} ${port}`;
}

function close<K>(all: Map<K, { close(): void }>, key: K, one: { close(): void }): void {
  all.delete(key);
  one.close();
}
