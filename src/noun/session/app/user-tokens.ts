/** Tokens for port 3002 of the sandboxes of one user. A change is answered when the agent API knows it. */

import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import { hasEnded, type Sandbox } from '../../sandbox/model.ts';
import type { Sandboxes } from '../../sandbox/sandbox.ts';
import type { NewSessionToken } from '../api.ts';
import { agentApiPort } from '../model/session.ts';
import type { SessionToken, SessionTokens } from '../session-tokens.ts';
import type { LiveSandbox } from './live-sandbox.ts';
import type { LiveSessions } from './live-sessions.ts';

export interface UserTokensParts {
  readonly sandboxes: Pick<Sandboxes, 'current' | 'seen'>;
  readonly live: LiveSessions;
  /** The tokens of the sandbox with this id. */
  tokensOf(id: string): SessionTokens;
  nowMs(): number;
}

type Running = (name: string) => Promise<{ readonly sandbox: Sandbox; readonly live: LiveSandbox }>;

export class UserTokens {
  readonly #parts: UserTokensParts;
  readonly #running: Running;

  /** `running` starts a sandbox that has ended. */
  constructor(parts: UserTokensParts, running: Running) {
    this.#parts = parts;
    this.#running = running;
  }

  async list(name: string): Promise<SessionToken[]> {
    const { row } = await this.#parts.sandboxes.seen(name);
    return this.#parts.tokensOf(row.id).list();
  }

  async create(name: string): Promise<NewSessionToken> {
    const { sandbox, live } = await this.#running(name);
    const tokens = this.#parts.tokensOf(sandbox.id);
    const made = tokens.create(new Date(this.#parts.nowMs()).toISOString());
    try {
      await live.configure();
    } catch (error) {
      tokens.remove(made.id);
      throw error;
    }
    return { ...made, url: urlOf(sandbox) };
  }

  /** A sandbox that does not run gets the remaining tokens at its next start. */
  async remove(name: string, id: string): Promise<SessionToken> {
    const { value: sandbox } = await this.#parts.sandboxes.current(name);
    const removed = this.#parts.tokensOf(sandbox.id).remove(id);
    crashPoint('session.token');
    if (!hasEnded(sandbox.status)) await (await this.#parts.live.of(sandbox)).configure();
    if (removed !== null) return removed;
    throw new Fault('not_found', `${name} has no token ${printable(id)}`, {
      hint: `See: carrel session token ${name} ls`,
    });
  }
}

function urlOf({ spec }: Sandbox): string | null {
  const open = spec.network?.ports.find(({ port }) => port === agentApiPort);
  if (open === undefined) return null;
  const address = open.hostAddress.includes(':') ? `[${open.hostAddress}]` : open.hostAddress;
  return `http://${address}:${open.hostPort}`;
}
