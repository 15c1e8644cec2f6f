/** What the daemon and the thread of the memory bank send each other. */
import type { ThreadAnswer } from '../../../lib/wire/thread-calls.ts';
import { startThread, type ThreadLink, type ThreadReceiver } from '../../../lib/wire/thread-link.ts';
import type { BankLimits } from '../model/bank.ts';
import type { Bank, BankPlace } from './bank.ts';

export type ToBankThread =
  | { readonly call: number; readonly place: BankPlace; readonly open: BankLimits }
  | { readonly call: number; readonly place: BankPlace; readonly erase: true }
  | {
      readonly call: number;
      readonly place: BankPlace;
      readonly method: keyof Bank;
      readonly args: readonly unknown[];
    };

export type FromBankThread = ThreadAnswer;
export type BankLink = ThreadLink<ToBankThread>;
export type BankReceiver = ThreadReceiver<FromBankThread>;

export const threadName = 'the thread of the memory bank';

export function startBankThread(receiver: BankReceiver): BankLink {
  return startThread('bank-thread', threadName, receiver);
}
