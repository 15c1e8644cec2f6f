/** The memory banks of all users that this daemon has open, and the scans that notice plain writes in them. */

import { Exclusive } from '../../../../lib/flow/exclusive.ts';
import { asFault, type Fault } from '../../../../model/fault.ts';
import { hasEnded, type Sandbox } from '../../../sandbox/model.ts';
import type { VolumeMount } from '../../../volume/model.ts';
import type { Bank, BankPlace, Banks } from '../../bank/bank.ts';
import type { BankLimits, BankWriter } from '../../model/bank.ts';

export interface LiveBanksParts {
  readonly banks: Banks;
  readonly placeOf: (user: string) => BankPlace;
  /** The name of the volume with the files. */
  readonly volumeOf: (user: string) => string;
  readonly limits: () => BankLimits;
  /** The sandboxes of a user; null: of all. */
  readonly sandboxes: (user: string | null) => readonly Sandbox[];
  readonly report: (id: string, fault: Fault) => void;
  readonly nowMs: () => number;
}

/** Pause between scans while a sandbox can write: at least this long, and `restFactor` times the duration of a scan. */
const scanMs = 2000;
const restFactor = 20;

export class LiveBanks {
  readonly #parts: LiveBanksParts;
  /** Users with a sandbox that may be writing. */
  readonly #writing = new Set<string>();
  readonly #scannedAt = new Map<string, string | null>();
  /** Scans and removals, one after the other for each user. */
  readonly #exclusive = new Exclusive();
  #timer: NodeJS.Timeout | null = null;
  #isDisposed = false;

  constructor(parts: LiveBanksParts) {
    this.#parts = parts;
  }

  open(user: string): Promise<Bank> {
    const { banks, placeOf, limits } = this.#parts;
    return banks.open(placeOf(user), limits());
  }

  /** The writer to record for a plain write that a scan finds now. */
  async plainWriter(user: string): Promise<BankWriter> {
    if (!this.#scannedAt.has(user)) this.#scannedAt.set(user, await (await this.open(user)).scannedAt());
    const since = this.#scannedAt.get(user) ?? '';
    return plainWriter(this.#parts.sandboxes(user).filter((sandbox) => this.#couldWrite(sandbox, since)));
  }

  scan(user: string): Promise<void> {
    return this.#exclusive.run(user, () => this.#scan(user));
  }

  async #scan(user: string): Promise<void> {
    const bank = await this.open(user);
    const plain = await this.plainWriter(user);
    // One scan is bounded; the next one continues where it stopped.
    for (let cut = true, times = 0; cut && times < 100; times += 1) {
      const { isCut, changes } = await bank.scan(plain);
      cut = isCut && changes > 0;
    }
    this.#scannedAt.set(user, await bank.scannedAt());
  }

  /** Removes the history, too. A scan that is due would make a new one, so it is not made any more. */
  async erase(user: string): Promise<void> {
    if (!this.#isWritten(user)) this.#writing.delete(user);
    await this.#exclusive.run(user, async () => {
      this.#scannedAt.delete(user);
      await this.#parts.banks.erase(this.#parts.placeOf(user));
    });
  }

  /** Called when the user is removed. The files and the history stay for a user of the same name. */
  async release(user: string): Promise<void> {
    this.#writing.delete(user);
    await this.#exclusive.run(user, async () => {
      this.#scannedAt.delete(user);
      await this.#parts.banks.release(this.#parts.placeOf(user));
    });
  }

  start(): void {
    for (const sandbox of this.#parts.sandboxes(null))
      if (this.#isWriting(sandbox)) this.#writing.add(sandbox.spec.user);
    this.#next(scanMs);
  }

  /** Called before a start. Scans first, so that earlier changes are not attributed to this sandbox. */
  async provide({ spec }: Sandbox): Promise<void> {
    const mounts = this.#mountsOf(spec);
    if (mounts.length === 0) return;
    await this.#scanQuietly(spec.user);
    if (!mounts.some(isWritable) || this.#isDisposed) return;
    this.#writing.add(spec.user);
    if (this.#timer === null) this.#next(scanMs);
  }

  /** Called after an end. Scans now: the writer of the changes is known only while no other sandbox has started. */
  async conclude({ spec }: Sandbox): Promise<void> {
    if (this.#mountsOf(spec).some(isWritable)) await this.#scanQuietly(spec.user);
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    clearTimeout(this.#timer ?? undefined);
    await this.#parts.banks.close();
  }

  #next(delayMs: number): void {
    if (this.#isDisposed || this.#writing.size === 0) {
      this.#timer = null;
      return;
    }
    this.#timer = setTimeout(() => void this.#turn(), delayMs);
    this.#timer.unref();
  }

  async #turn(): Promise<void> {
    const beganMs = this.#parts.nowMs();
    for (const user of [...this.#writing]) {
      const isWritten = this.#isWritten(user);
      await this.#scanQuietly(user, async () => {
        if (this.#writing.has(user)) await this.#scan(user);
      });
      if (!isWritten) this.#writing.delete(user);
    }
    this.#next(Math.max(scanMs, (this.#parts.nowMs() - beganMs) * restFactor));
  }

  async #scanQuietly(user: string, scan = () => this.#scan(user)): Promise<void> {
    if (this.#isDisposed) return;
    try {
      await this.#exclusive.run(user, scan);
    } catch (error) {
      this.#parts.report(`memory bank of ${user}`, asFault(error));
    }
  }

  /** Mounts of the bank's volume at any path: a sandbox without the tools of the bank can write its files, too. */
  #mountsOf({ user, volumes = [] }: Sandbox['spec']): readonly VolumeMount[] {
    const volume = this.#parts.volumeOf(user);
    return volumes.filter(({ name }) => name === volume);
  }

  #isWritten(user: string): boolean {
    return this.#parts.sandboxes(user).some((sandbox) => this.#isWriting(sandbox));
  }

  #isWriting({ spec, status }: Sandbox): boolean {
    return this.#mountsOf(spec).some(isWritable) && !hasEnded(status);
  }

  /** Whether the sandbox ran with a writable bank since then. */
  #couldWrite({ spec, status }: Sandbox, since: string): boolean {
    if (!this.#mountsOf(spec).some(isWritable) || status.startedAt === null) return false;
    return !hasEnded(status) || (status.finishedAt ?? '') >= since;
  }
}

function isWritable({ readonly }: VolumeMount): boolean {
  return !readonly;
}

export function plainWriter(could: readonly Pick<Sandbox, 'id' | 'name'>[]): BankWriter {
  const [only, ...others] = could;
  if (only !== undefined && others.length === 0)
    return { kind: 'sandbox', name: only.name, id: only.id, agent: null, session: null };
  const names = could.map(({ name }) => name).sort();
  return { kind: 'unknown', name: names.slice(0, 10).join(', '), id: null, agent: null, session: null };
}
