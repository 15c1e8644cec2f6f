/**
 * The sandboxes of all users whose sessions this daemon has open. Running sandboxes that have sessions are connected after the start, and
 * whenever one of them starts; others when a request needs them.
 */
import { existsSync } from 'node:fs';
import type { Store } from '../../../kernel/store/store.ts';
import { asFault, type Fault } from '../../../model/fault.ts';
import type { Sandbox } from '../../sandbox/model.ts';
import { FolderCopies } from '../folder-copies.ts';
import type { Sessions } from '../session.ts';
import type { AgentPrograms } from './agent-programs.ts';
import { LiveSandbox } from './live-sandbox.ts';

export interface LiveSessionsParts {
  readonly store: Pick<Store, 'get' | 'list' | 'subscribe'>;
  /** The folder with the copies of a sandbox. */
  folder(id: string): string;
  readonly programs: Pick<AgentPrograms, 'clientOf' | 'start' | 'isCurrent'>;
  /** Whether clients outside may use its agent API, even without a session that this daemon knows. */
  hasTokens(id: string): boolean;
  /** Records what a turn may have changed. */
  turnEnded(sandbox: Sandbox): Promise<void>;
  report(id: string, fault: Fault): void;
}

export class LiveSessions implements Sessions {
  readonly #parts: LiveSessionsParts;
  readonly #live = new Map<string, Promise<LiveSandbox>>();
  #unsubscribe: (() => void) | null = null;

  constructor(parts: LiveSessionsParts) {
    this.#parts = parts;
  }

  start(): void {
    const { store } = this.#parts;
    this.#unsubscribe = store.subscribe(({ subject, type }) => {
      if (type.startsWith('sandbox.')) this.#look(subject);
    });
    for (const { id } of store.list('sandbox')) this.#look(id);
  }

  async dispose(): Promise<void> {
    this.#unsubscribe?.();
    await Promise.allSettled([...this.#live.values()].map(async (live) => (await live).close()));
  }

  has({ id }: Sandbox): boolean {
    return this.#live.has(id) || existsSync(this.#parts.folder(id));
  }

  of(sandbox: Sandbox): Promise<LiveSandbox> {
    const known = this.#live.get(sandbox.id);
    if (known !== undefined) return known;
    const opening = this.#open(sandbox.id);
    this.#live.set(sandbox.id, opening);
    opening.catch(() => this.#live.delete(sandbox.id));
    return opening;
  }

  async #open(id: string): Promise<LiveSandbox> {
    const { store, folder, programs, report } = this.#parts;
    const now = () => store.get('sandbox', id)?.value;
    return new LiveSandbox({
      api: programs.clientOf(now()!),
      copies: await FolderCopies.open(folder(id)),
      isRunning: () => now()?.status.state === 'running',
      startProgram: () => programs.start(now()!),
      isCurrent: (health) => programs.isCurrent(now()!, health),
      turnEnded: () => this.#turnEnded(now()!),
      report: (fault) => report(id, fault),
      nowMs: () => performance.now(),
    });
  }

  #turnEnded(sandbox: Sandbox): void {
    const { turnEnded, report } = this.#parts;
    turnEnded(sandbox).catch((error: unknown) => report(sandbox.id, asFault(error)));
  }

  #look(id: string): void {
    const sandbox = this.#parts.store.get('sandbox', id)?.value;
    if (sandbox === undefined) this.#drop(id);
    else if (sandbox.status.state === 'running' && (this.has(sandbox) || this.#parts.hasTokens(id)))
      this.#connect(sandbox);
  }

  #connect(sandbox: Sandbox): void {
    this.of(sandbox).then(
      (live) => (live.copies.list().length > 0 || this.#parts.hasTokens(sandbox.id)) && live.link.open(),
      (error: unknown) => this.#parts.report(sandbox.id, asFault(error)),
    );
  }

  #drop(id: string): void {
    const live = this.#live.get(id);
    this.#live.delete(id);
    void live?.then((one) => one.close()).catch((error: unknown) => this.#parts.report(id, asFault(error)));
  }
}
