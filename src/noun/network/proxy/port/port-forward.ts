/** Ports of the host that are forwarded to servers inside a sandbox. */
import { createServer, type Server, Socket } from 'node:net';
import type { ProcessRef } from '../../../../lib/process/process.ts';
import { Fault, isFault } from '../../../../model/fault.ts';
import { agentApiPort } from '../../../session/model/session.ts';
import type { Forwarder } from '../../credential/credential.ts';
import type { PortForward } from '../../model/network.ts';
import type { Meter } from '../limit/meter.ts';
import { relay } from '../relay/relay.ts';
import { adopt } from '../relay/reused-buffer.ts';
import type { NamespaceSockets } from '../socket/namespace-sockets.ts';
import { agentApiCall } from './agent-api-port.ts';

const maxConnections = 500;

export interface InsideOf {
  readonly init: ProcessRef;
  readonly sockets: NamespaceSockets;
  readonly meter: Meter;
  readonly forwarder: Forwarder;
}

export class ForwardedPort {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static open({ port, hostPort, hostAddress }: PortForward, inside: InsideOf): Promise<ForwardedPort> {
    const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true });
    const forwarded = new ForwardedPort(server);
    server.maxConnections = maxConnections;
    server.on('connection', (socket) => void forwarded.#take(socket, port, inside));
    return new Promise((resolve, reject) => {
      server.once('error', (error) => reject(listenFault(error, hostAddress, hostPort)));
      server.listen({ host: hostAddress, port: hostPort, exclusive: true }, () => resolve(forwarded));
    });
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #take(client: Socket, port: number, inside: InsideOf): Promise<void> {
    client.on('error', () => client.destroy());
    this.#keep(client);
    // The agent API keeps connections for later requests: such a connection must end when the server ends it.
    const whole = () => this.#dial(port, inside, (fd) => new Socket({ fd, readable: true, writable: true }));
    if (port === agentApiPort) return inside.forwarder.answer(agentApiCall(client, inside.meter, whole));
    try {
      const server = await this.#dial(port, inside, adopt);
      relay(client, server, { meter: inside.meter, onBytes: () => {} });
    } catch {
      // No server listens inside: the client sees a closed connection, ignoring.
      client.destroy();
    }
  }

  async #dial(port: number, inside: InsideOf, open: (fd: number) => Socket): Promise<Socket> {
    const server = open(await connectInside(inside, port));
    server.on('error', () => server.destroy());
    this.#keep(server);
    return server;
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }
}

/** Connects by IPv4, then by IPv6: a server that listens on `localhost` has one of the two. */
async function connectInside({ sockets, init }: InsideOf, port: number): Promise<number> {
  try {
    return await sockets.connect(init, port, 4);
  } catch (error) {
    if (isFault(error, 'not_ready')) throw error;
    return sockets.connect(init, port, 6);
  }
}

function listenFault(error: NodeJS.ErrnoException, address: string, port: number): Fault {
  const where = `${address}:${port}`;
  if (error.code === 'EADDRINUSE') {
    return new Fault('conflict', `${where} is taken on this machine`, { hint: 'Name another: PORT:HOSTPORT' });
  }
  if (error.code === 'EACCES') {
    return new Fault('denied', `this daemon may not listen on ${where}`, { hint: 'Name a port above 1023.' });
  }
  if (error.code === 'EADDRNOTAVAIL') return new Fault('invalid', `${address} is not an address of this machine`);
  return new Fault('internal', `cannot listen on ${where}: ${error.message}`, { cause: error });
}
