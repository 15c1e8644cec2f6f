/** The banks of all users, on the daemon's side of the thread. */
import { Openings } from '../lib/openings.ts';
import { ThreadCalls } from '../lib/thread-calls.ts';
import type { BankLimits, BankWriter } from '../model/bank.ts';
import { isFault } from '../model/fault.ts';
import type { Bank, BankChange, BankPlace, Banks, LogQuery } from './bank.ts';
import { type Link, type Receiver, startBankThread, type ToThread, threadName } from './bank-link.ts';

export function openBanks(start: (receiver: Receiver) => Link = startBankThread): Banks {
  return new ThreadBanks(start);
}

class ThreadBanks implements Banks {
  readonly #open = new Openings<Bank>();
  readonly #calls: ThreadCalls<ToThread>;

  constructor(start: (receiver: Receiver) => Link) {
    // Banks are opened again when they are next needed.
    this.#calls = new ThreadCalls<ToThread>(start, threadName, { broken: () => this.#open.forgetAll() });
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
    const ask: Ask = (method, ...args) =>
      this.#calls.call<never>({ place, method, args }).catch((error: unknown) => this.#failed(place, error)) as never;
    return new ThreadBank(ask, () => this.#closeNow(place));
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

type Ask = <K extends keyof Bank>(method: K, ...args: Parameters<Bank[K]>) => ReturnType<Bank[K]>;

class ThreadBank implements Bank {
  readonly #ask: Ask;
  readonly close: () => Promise<void>;

  constructor(ask: Ask, close: () => Promise<void>) {
    this.#ask = ask;
    this.close = close;
  }

  projects = () => this.#ask('projects');
  files = (project: string) => this.#ask('files', project);
  read = (path: string, plain: BankWriter) => this.#ask('read', path, plain);
  write = (change: BankChange, plain: BankWriter) => this.#ask('write', change, plain);
  lock = (path: string, by: BankWriter, seconds: number) => this.#ask('lock', path, by, seconds);
  unlock = (path: string, by: BankWriter) => this.#ask('unlock', path, by);
  log = (query: LogQuery) => this.#ask('log', query);
  restore = (path: string, version: number, by: BankWriter, plain: BankWriter) =>
    this.#ask('restore', path, version, by, plain);
  scan = (plain: BankWriter) => this.#ask('scan', plain);
  scannedAt = () => this.#ask('scannedAt');
  status = () => this.#ask('status');
}
