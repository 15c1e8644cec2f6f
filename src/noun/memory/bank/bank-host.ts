/** Answers calls to the banks that are open here. */
import { rmSync } from 'node:fs';
import { Hosted } from '../../../lib/wire/hosted.ts';
import { answerCall } from '../../../lib/wire/thread-calls.ts';
import { Fault } from '../../../model/fault.ts';
import { bankFault } from './bank-fault.ts';
import type { BankLink, BankReceiver, FromBankThread, ToBankThread } from './bank-link.ts';
import { OpenedBank, type OpenedBankOptions } from './opened-bank.ts';

type HostOptions = Partial<Pick<OpenedBankOptions, 'now'>>;

export class BankHost {
  readonly #banks = new Hosted<OpenedBank>(() => new Fault('unavailable', 'the memory bank is not open'));
  readonly #send: (message: FromBankThread) => void;
  readonly #options: HostOptions;

  constructor(send: (message: FromBankThread) => void, options: HostOptions = {}) {
    this.#send = send;
    this.#options = options;
  }

  receive(message: ToBankThread): void {
    answerCall(message.call, this.#do(message), this.#send);
  }

  closeAll(): Promise<void> {
    return this.#banks.closeAll();
  }

  async #do(message: ToBankThread): Promise<unknown> {
    const { folder } = message.place;
    try {
      if ('open' in message) return this.#open(message);
      if ('erase' in message) return await this.#erase(folder);
      return await this.#banks.call(folder, message);
    } catch (error) {
      throw bankFault(error);
    }
  }

  #open({ place, open: limits }: Extract<ToBankThread, { open: unknown }>): null {
    const now = () => new Date();
    this.#banks.get(place.folder, () => new OpenedBank(place, { now, ...this.#options, limits }));
    return null;
  }

  /** Closes the bank before its folder is removed, so that no acknowledged write goes into an unlinked file. */
  async #erase(folder: string): Promise<null> {
    await this.#banks.close(folder);
    rmSync(folder, { recursive: true, force: true });
    return null;
  }
}

/** Runs the banks without a thread, for tests. */
export function startBankHere(receiver: BankReceiver, options?: HostOptions): BankLink {
  const host = new BankHost((message) => receiver.received(message), options);
  return { send: (message) => host.receive(message), end: () => host.closeAll() };
}
