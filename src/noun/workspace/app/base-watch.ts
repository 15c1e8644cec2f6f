/**
 * Records what agents' changes are based on while they work, so that they can be merged even if the project changes
 * meanwhile. That is best done soon after each change: at intervals for all running sandboxes, and whenever a command
 * inside has ended.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Kernel } from '../../../kernel/kernel.ts';
import { asFault } from '../../../model/fault.ts';
import type { Sandbox } from '../../sandbox/model.ts';
import { keepBases } from '../change/base/base.ts';
import { isUnwritten } from '../change/overlay/unwritten.ts';
import { workspacePlace } from '../launch.ts';
import { openDisk } from '../snapshot/disk.ts';
import type { WorkspacePlace } from '../workspace.ts';

export type BaseWatchParts = Pick<Kernel, 'store' | 'home' | 'threads' | 'locks' | 'report'>;

const pauseMs = 3000;
/** A command waits at most this long for the record of the files before it. */
const patienceMs = 50;
/** Recording takes at most this share of the time. */
const share = 0.02;

export class BaseWatch {
  readonly #parts: BaseWatchParts;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: BaseWatchParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer = setTimeout(() => void this.#round(), pauseMs);
    this.#timer.unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #round(): Promise<void> {
    const from = performance.now();
    for (const { value } of this.#parts.store.list('sandbox')) {
      if (value.status.state === 'running') await this.keep(value);
    }
    if (this.#timer === undefined) return;
    this.#timer = setTimeout(() => void this.#round(), Math.max(pauseMs, (performance.now() - from) / share));
    this.#timer.unref();
  }

  /** Never fails: a base that could not be recorded is a conflict at worst. */
  async keep(sandbox: Sandbox): Promise<void> {
    const { home, locks, report } = this.#parts;
    const place = workspacePlace(sandbox, home);
    if (!place?.live) return;
    await locks
      .run(sandbox.id, () => this.#keep(sandbox, place))
      .catch((error: unknown) => report(sandbox.id, asFault(error)));
  }

  /**
   * Waits at most `patienceMs`; the recording goes on meanwhile. A base that is recorded too late is a conflict at
   * worst.
   */
  async keepSoon(sandbox: Sandbox): Promise<void> {
    const patience = new AbortController();
    const enough = pause(patienceMs, undefined, { signal: patience.signal }).catch(() => {});
    await Promise.race([this.keep(sandbox), enough]);
    patience.abort();
  }

  async #keep({ id, spec }: Sandbox, place: WorkspacePlace): Promise<void> {
    const { home, threads } = this.#parts;
    await openDisk(home.sandbox(id));
    if (!existsSync(join(place.folder, 'upper'))) return;
    // If nothing is written yet, that is recorded without a thread, because it is quick.
    if (isUnwritten(place)) keepBases(place);
    else await threads.run({ user: spec.user }, 'keepBases', place);
  }
}
