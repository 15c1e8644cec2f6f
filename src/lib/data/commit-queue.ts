/**
 * Changes of a database that wait for the disk together: those that arrive while a transaction is written share the next one. A change
 * that throws a Fault is refused alone, so it must throw before it writes; any other error undoes all changes of the transaction.
 */
import { asFault, Fault } from '../../model/fault.ts';

const maxBatch = 500;

interface Waiting {
  readonly change: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (fault: Fault) => void;
}

type Outcome = { readonly value: unknown } | { readonly fault: Fault };

export interface Transactions {
  /** Runs the work in a transaction, which is on disk when this returns. */
  transact<T>(work: () => T): T;
  /** Called after each transaction, before its callers get their results. */
  committed?(): void;
  /** Called after the callers have got their results. */
  answered?(): void;
  undone?(): void;
}

export class CommitQueue {
  readonly #transactions: Transactions;
  readonly #waiting: Waiting[] = [];

  constructor(transactions: Transactions) {
    this.#transactions = transactions;
  }

  /** The change is durable when the promise resolves. */
  run<T>(change: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ change, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#commit());
    });
  }

  /** Commits all waiting changes now. */
  flush(): void {
    while (this.#waiting.length > 0) this.#commit();
  }

  #commit(): void {
    const batch = this.#waiting.splice(0, maxBatch);
    if (batch.length === 0) return;
    if (this.#waiting.length > 0) setImmediate(() => this.#commit());
    let outcomes: readonly Outcome[];
    try {
      outcomes = this.#transactions.transact(() => batch.map(({ change }) => outcomeOf(change)));
    } catch (error) {
      this.#transactions.undone?.();
      for (const { reject } of batch) reject(asFault(error));
      return;
    }
    this.#transactions.committed?.();
    batch.forEach(({ resolve, reject }, index) => {
      const outcome = outcomes[index]!;
      if ('fault' in outcome) reject(outcome.fault);
      else resolve(outcome.value as never);
    });
    this.#transactions.answered?.();
  }
}

function outcomeOf(change: () => unknown): Outcome {
  try {
    return { value: change() };
  } catch (error) {
    if (error instanceof Fault) return { fault: error };
    throw error;
  }
}
