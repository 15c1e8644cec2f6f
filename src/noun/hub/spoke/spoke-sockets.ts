/**
 * Spokes elsewhere: a program in a container or on another machine dials the hub's port by WebSocket, subprotocol `carrel-spoke`, and is
 * reached only over the connection that it opened. Its token has to name the group `spoke` and the project. The hub pings it; a
 * connection that does not answer, or whose token was revoked, is closed.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { type StreamSocket, streamsOf } from '../../../lib/wire/socket-streams.ts';
import { asFault, Fault } from '../../../model/fault.ts';
import { closeReason, keepPinging, Upgrade } from '../endpoint/upgrade.ts';
import { maxAnswerBytes, spokeSubprotocol } from '../model/spoke.ts';
import type { ClientIdentity } from '../token/authentication.ts';
import type { SpokeStreams } from './spoke.ts';

const policyViolation = 1008;

export interface SpokeSocketParts {
  readonly pingMs: number;
  /** Throws if this user has no such project, or if its spoke does not run elsewhere. */
  connect(identity: ClientIdentity, project: string, streams: SpokeStreams): Promise<void>;
  /** The same check, before the upgrade to WebSocket. */
  check(identity: ClientIdentity, project: string): void;
}

export class SpokeSockets {
  readonly #parts: SpokeSocketParts;
  readonly #open = new Map<WebSocket, ClientIdentity>();
  readonly #upgrade = new Upgrade(spokeSubprotocol, maxAnswerBytes);

  constructor(parts: SpokeSocketParts) {
    this.#parts = parts;
  }

  /** The request must be authenticated already. Throws only before the upgrade to WebSocket. */
  async accept(request: IncomingMessage, socket: Duplex, head: Buffer, identity: ClientIdentity): Promise<void> {
    const project = new URL(request.url ?? '/', 'http://carrel').searchParams.get('project') ?? '';
    requireGrant(identity, project);
    this.#parts.check(identity, project);
    await this.#upgrade.accept(request, socket, head, (accepted) => void this.#serve(accepted, identity, project));
  }

  /** Ends the connections whose token was revoked or has expired. */
  sweep(): void {
    for (const [socket, identity] of this.#open) endIfRevoked(socket, identity);
  }

  close(): void {
    for (const socket of this.#open.keys()) socket.terminate();
  }

  async #serve(socket: WebSocket, identity: ClientIdentity, project: string): Promise<void> {
    this.#open.set(socket, identity);
    keepPinging(socket, this.#parts.pingMs, () => {
      endIfRevoked(socket, identity);
      return true;
    });
    socket.on('message', () => endIfRevoked(socket, identity));
    socket.once('close', () => this.#open.delete(socket));
    try {
      await this.#parts.connect(identity, project, streamsOf(socket as StreamSocket));
    } catch (error) {
      socket.close(policyViolation, closeReason(asFault(error).message));
    }
  }
}

/** Refuses a token for clients: its holder must not be able to answer in the place of a spoke. */
function requireGrant({ caller: { groups, projects } }: ClientIdentity, project: string): void {
  if (!groups.includes('spoke'))
    throw new Fault('denied', 'this token is not for spokes', {
      hint: `Make one with: carrel hub token --project ${project || 'ID'} --tools spoke`,
    });
  if (projects !== '*' && !projects.includes(project)) throw new Fault('not_found', 'no such project');
}

/** Sends the reason in a close frame. The other side may not answer it, so the connection is terminated in any case. */
function endIfRevoked(socket: WebSocket, identity: ClientIdentity): void {
  try {
    identity.check();
  } catch (error) {
    socket.pause();
    socket.close(policyViolation, closeReason(asFault(error).message));
    setImmediate(() => socket.terminate());
  }
}
