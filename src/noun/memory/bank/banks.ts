/** The banks of all users, on the daemon's side of the thread. */
import { Openings } from '../../../lib/file/openings.ts';
import { programThread, ThreadCalls } from '../../../lib/wire/thread-calls.ts';
import type { StartThread } from '../../../lib/wire/thread-link.ts';
import { isFault } from '../../../model/fault.ts';
import type { BankLimits } from '../model/bank.ts';
import type { Bank, BankPlace, Banks } from './bank.ts';

const bankCalls = [
  ...(['projects', 'files', 'read', 'write', 'lock', 'unlock', 'log', 'restore'] as const),
  ...(['scan', 'scannedAt', 'status'] as const),
];

export function openBanks(start = programThread('bank-thread')): Banks {
  return new ThreadBanks(start);
}

class ThreadBanks implements Banks {
  readonly #open = new Openings<Bank>();
  readonly #calls: ThreadCalls;

  constructor(start: StartThread) {
    // Banks are opened again when they are next needed.
    const broken = () => this.#open.forgetAll();
    this.#calls = new ThreadCalls({ name: 'the thread of the memory bank', start, broken });
  }

  open(place: BankPlace, limits: BankLimits): Promise<Bank> {
    return this.#open.get(place.folder, () => this.#openNow(place, limits));
  }

  async erase(place: BankPlace): Promise<void> {
    this.#open.forget(place.folder);
    await this.#calls.call(place.folder, 'erase');
  }

  async release(place: BankPlace): Promise<void> {
    const opened = await this.#open.opened(place.folder);
    await opened?.close();
  }

  async close(): Promise<void> {
    await this.#open.closeAll();
    await this.#calls.end();
  }

  async #openNow(place: BankPlace, limits: BankLimits): Promise<Bank> {
    await this.#calls.call(place.folder, 'open', place, limits);
    const calls = this.#calls.remote<Bank, (typeof bankCalls)[number]>(place.folder, bankCalls, (error) =>
      this.#failed(place, error),
    );
    return { ...calls, close: () => this.#closeNow(place) };
  }

  /** Closes a bank with a damaged history: opening it again sets the history aside. */
  async #failed(place: BankPlace, error: unknown): Promise<never> {
    if (isFault(error, 'corrupt') && this.#open.has(place.folder)) await this.#closeNow(place);
    throw error;
  }

  async #closeNow(place: BankPlace): Promise<void> {
    this.#open.forget(place.folder);
    await this.#calls.call(place.folder, 'close');
  }
}
