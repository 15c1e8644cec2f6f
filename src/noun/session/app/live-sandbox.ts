/** The sessions of one sandbox in this daemon: their copies, and calls to the agent API that are repeated when a connection is lost. */
import { Fault, isFault } from '../../../model/fault.ts';
import { type AgentApi, type AgentApiCall, AgentApiRefusal } from '../agent-api.ts';
import type { SessionEvent } from '../model/session.ts';
import type { CopiedSession, SessionCopies } from '../session.ts';
import { type LinkParts, SessionLink } from './session-link.ts';

export interface LiveParts extends Omit<LinkParts, 'copied'> {
  readonly api: Pick<AgentApi, 'call' | 'restore' | 'events' | 'close'>;
  readonly copies: SessionCopies;
  /** Called when a turn has ended. */
  turnEnded(): void;
}

const maxTries = 3;
/** Time-out for an event that the program inside has logged. */
const arriveMs = 30_000;

export class LiveSandbox {
  readonly copies: SessionCopies;
  readonly link: SessionLink;
  readonly #parts: LiveParts;
  readonly #waiting = new Set<() => void>();

  constructor(parts: LiveParts) {
    this.#parts = parts;
    this.copies = parts.copies;
    this.link = new SessionLink({
      ...{ api: parts.api, copies: parts.copies },
      isRunning: () => parts.isRunning(),
      startProgram: () => parts.startProgram(),
      isCurrent: (health) => parts.isCurrent(health),
      report: (fault) => parts.report(fault),
      nowMs: () => parts.nowMs(),
      copied: (events) => this.#copied(events),
    });
  }

  find(id: string): CopiedSession {
    const found = this.copies.find(id);
    if (found !== null) return found;
    throw new Fault('not_found', `no session ${id}`, { hint: 'See: carrel session ls' });
  }

  /** `isDone`: whether an earlier attempt, whose answer was lost, has done it; then `conflict` is not an error. */
  async call(call: AgentApiCall, isDone: () => boolean = () => false): Promise<unknown> {
    for (let tries = 1; ; tries += 1) {
      await this.link.connected();
      try {
        return await this.#parts.api.call(call);
      } catch (error) {
        if (isFault(error, 'conflict') && tries > 1 && isDone()) return null;
        if (error instanceof AgentApiRefusal || !isFault(error, 'unavailable') || tries === maxTries) throw error;
        this.link.renew();
      }
    }
  }

  /** The copy, once it has everything that the log inside has now. */
  async caughtUp(id: string): Promise<CopiedSession> {
    const { seq } = (await this.call({ method: 'GET', path: `/sessions/${id}` })) as { readonly seq?: unknown };
    return this.reached(id, Number(seq));
  }

  reached(id: string, seq: number): Promise<CopiedSession> {
    const arrived = () => {
      const found = this.copies.find(id);
      return found !== null && found.fold.seq >= seq ? found : null;
    };
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = arrived();
        if (found === null) return;
        this.#waiting.delete(look);
        clearTimeout(timer);
        resolve(found);
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(look);
        reject(new Fault('timeout', `event ${seq} of session ${id} did not arrive from the sandbox`));
      }, arriveMs);
      this.#waiting.add(look);
      look();
    });
  }

  /** Gives the program inside its settings, or starts it with them. */
  configure(): Promise<void> {
    return this.#parts.startProgram();
  }

  async close(): Promise<void> {
    await this.link.close();
    this.#parts.api.close();
    await this.copies.close();
  }

  #copied(events: readonly SessionEvent[]): void {
    for (const look of [...this.#waiting]) look();
    if (events.some(({ type }) => type === 'turn.ended')) this.#parts.turnEnded();
  }
}
