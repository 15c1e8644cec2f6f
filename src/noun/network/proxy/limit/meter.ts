/**
 * Counts the bytes of a sandbox and delays its readers. A reader waits for one of two reasons: the rate limit of the
 * sandbox, or fairness, since one sandbox with a thousand busy connections must not starve the others.
 */
import type { NetworkLimits } from '../../model/network.ts';

type Go = () => void;

/** The bytes that one sandbox may pass in one turn of the event loop. */
const quantumBytes = 1024 * 1024;
/** The number of waiting readers that continue in the next turn. */
const perTurn = 16;
/** The burst, as a part of the bytes per second. */
const burstSeconds = 0.1;
const minBurstBytes = 64 * 1024;

export interface MeterClock {
  nowMs(): number;
  after(ms: number, act: () => void): void;
  /** Calls `act` in the next turn of the event loop. */
  nextTurn(act: () => void): void;
}

export const realClock: MeterClock = {
  nowMs: () => performance.now(),
  after: (ms, act) => void setTimeout(act, ms),
  nextTurn: (act) => void setImmediate(act),
};

export class Meter {
  readonly #clock: MeterClock;
  readonly #onSpent: () => void;
  #limits: NetworkLimits;
  #totalBytes: number;
  #turnBytes = 0;
  #waitingForTurn: Go[] = [];
  #isTurnPlanned = false;
  /** Bytes that may pass now; negative: more have passed than the rate allows. */
  #allowance: number;
  #refilledMs: number;
  #waitingForRate: Go[] = [];

  /** `onSpent` is called whenever the total limit is exceeded. */
  constructor(limits: NetworkLimits, usedBytes: number, onSpent: () => void, clock: MeterClock = realClock) {
    this.#limits = limits;
    this.#totalBytes = usedBytes;
    this.#onSpent = onSpent;
    this.#clock = clock;
    this.#refilledMs = clock.nowMs();
    this.#allowance = burstOf(limits.bytesPerSecond ?? 0);
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  get isSpent(): boolean {
    const { totalBytes } = this.#limits;
    return totalBytes !== null && this.#totalBytes >= totalBytes;
  }

  change(limits: NetworkLimits): void {
    this.#limits = limits;
    if (limits.bytesPerSecond === null) this.#release();
  }

  /** Counts bytes. True: the reader waits until `go` is called. */
  take(bytes: number, go: Go): boolean {
    this.#totalBytes += bytes;
    if (this.isSpent) this.#onSpent();
    return this.#overRate(bytes, go) || this.#overTurn(bytes, go);
  }

  #overTurn(bytes: number, go: Go): boolean {
    this.#turnBytes += bytes;
    this.#planTurn();
    if (this.#turnBytes <= quantumBytes) return false;
    this.#waitingForTurn.push(go);
    return true;
  }

  #planTurn(): void {
    if (this.#isTurnPlanned) return;
    this.#isTurnPlanned = true;
    this.#clock.nextTurn(() => this.#turn());
  }

  #turn(): void {
    this.#isTurnPlanned = false;
    this.#turnBytes = 0;
    const next = this.#waitingForTurn.splice(0, perTurn);
    if (this.#waitingForTurn.length > 0) this.#planTurn();
    for (const go of next) go();
  }

  #overRate(bytes: number, go: Go): boolean {
    const rate = this.#limits.bytesPerSecond;
    if (rate === null) return false;
    this.#refill(rate);
    this.#allowance -= bytes;
    if (this.#allowance >= 0) return false;
    this.#waitingForRate.push(go);
    if (this.#waitingForRate.length === 1) this.#wait(rate);
    return true;
  }

  #refill(rate: number): void {
    const now = this.#clock.nowMs();
    this.#allowance = Math.min(burstOf(rate), this.#allowance + ((now - this.#refilledMs) / 1000) * rate);
    this.#refilledMs = now;
  }

  #wait(rate: number): void {
    const ms = Math.max(1, Math.ceil((-this.#allowance / rate) * 1000));
    this.#clock.after(ms, () => {
      this.#refill(rate);
      if (this.#allowance < 0 && this.#limits.bytesPerSecond !== null) this.#wait(this.#limits.bytesPerSecond);
      else this.#release();
    });
  }

  #release(): void {
    for (const go of this.#waitingForRate.splice(0)) go();
  }
}

function burstOf(rate: number): number {
  return Math.max(minBurstBytes, rate * burstSeconds);
}
