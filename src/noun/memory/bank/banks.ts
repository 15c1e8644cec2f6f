/** The banks of all users, on the daemon's side of the thread. */
import { Openings } from '../../../lib/file/openings.ts';
import { remote } from '../../../lib/wire/remote.ts';
import { ThreadCalls } from '../../../lib/wire/thread-calls.ts';
import { isFault } from '../../../model/fault.ts';
import type { BankLimits } from '../model/bank.ts';
import type { Bank, BankPlace, Banks } from './bank.ts';
import { type BankLink, type BankReceiver, startBankThread, type ToBankThread, threadName } from './bank-link.ts';

const bankCalls = [
  ...(['projects', 'files', 'read', 'write', 'lock', 'unlock', 'log', 'restore'] as const),
  ...(['scan', 'scannedAt', 'status'] as const),
];

type BankCall = (typeof bankCalls)[number];

export function openBanks(start: (receiver: BankReceiver) => BankLink = startBankThread): Banks {
  return new ThreadBanks(start);
}

class ThreadBanks implements Banks {
  readonly #open = new Openings<Bank>();
  readonly #calls: ThreadCalls<ToBankThread>;

  constructor(start: (receiver: BankReceiver) => BankLink) {
    // Banks are opened again when they are next needed.
    this.#calls = new ThreadCalls<ToBankThread>(start, threadName, { broken: () => this.#open.forgetAll() });
  }

  open(place: BankPlace, limits: BankLimits): Promise<Bank> {
    return this.#open.get(place.folder, () => this.#openNow(place, limits));
  }

  async erase(place: BankPlace): Promise<void> {
    this.#open.forget(place.folder);
    await this.#calls.call({ place, erase: true });
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
    await this.#calls.call({ place, open: limits });
    const ask = (method: BankCall, args: readonly unknown[]) =>
      this.#calls.call<never>({ place, method, args }).catch((error: unknown) => this.#failed(place, error));
    return { ...remote(bankCalls, ask), close: () => this.#closeNow(place) };
  }

  /** Closes a bank with a damaged history: opening it again sets the history aside. */
  async #failed(place: BankPlace, error: unknown): Promise<never> {
    if (isFault(error, 'corrupt') && this.#open.has(place.folder)) await this.#closeNow(place);
    throw error;
  }

  async #closeNow(place: BankPlace): Promise<void> {
    this.#open.forget(place.folder);
    await this.#calls.call({ place, method: 'close', args: [] });
  }
}
