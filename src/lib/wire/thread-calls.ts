/** Calls to a thread, which the first call starts. Each answer has the number of its call. */
import { asFault, Fault, type FaultBody } from '../../model/fault.ts';
import type { ThreadLink, ThreadReceiver } from './thread-link.ts';

export type ThreadAnswer =
  | { readonly call: number; readonly value: unknown }
  | { readonly call: number; readonly fault: FaultBody };

/** Runs in the thread: sends the result of a call, or its fault. */
export function answerCall(call: number, work: Promise<unknown>, send: (answer: ThreadAnswer) => void): void {
  work.then(
    (value) => send({ call, value }),
    (error: unknown) => send({ call, fault: asFault(error).toJSON() }),
  );
}

interface Pending {
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** A distributive `Omit`: each member of the union without its number. */
type Unnumbered<T> = T extends unknown ? Omit<T, 'call'> : never;

export interface ThreadEvents<Pushed> {
  /** The thread ended unexpectedly; the next call starts another. */
  readonly broken: () => void;
  /** The thread sent a message that answers no call. */
  readonly pushed?: (message: Pushed) => void;
}

export class ThreadCalls<To extends { readonly call: number }, Pushed extends object = never> {
  readonly #start: (receiver: ThreadReceiver<ThreadAnswer | Pushed>) => ThreadLink<To>;
  readonly #name: string;
  readonly #events: ThreadEvents<Pushed>;
  readonly #pending = new Map<number, Pending>();
  #link: ThreadLink<To> | null = null;
  #calls = 0;

  constructor(
    start: (receiver: ThreadReceiver<ThreadAnswer | Pushed>) => ThreadLink<To>,
    name: string,
    events: ThreadEvents<Pushed>,
  ) {
    this.#start = start;
    this.#name = name;
    this.#events = events;
  }

  call<T>(message: Unnumbered<To>): Promise<T> {
    this.#link ??= this.#start({ received: (answer) => this.#received(answer), broken: (error) => this.#fail(error) });
    const call = ++this.#calls;
    return new Promise<T>((resolve, reject) => {
      this.#pending.set(call, { resolve, reject });
      this.#link!.send({ ...message, call } as unknown as To);
    });
  }

  async end(): Promise<void> {
    await this.#link?.end();
    this.#link = null;
  }

  #received(answer: ThreadAnswer | Pushed): void {
    if (!isAnswer(answer)) {
      this.#events.pushed?.(answer);
      return;
    }
    const pending = this.#pending.get(answer.call);
    this.#pending.delete(answer.call);
    if ('fault' in answer) pending?.reject(Fault.from(answer.fault));
    else pending?.resolve(answer.value as never);
  }

  #fail(cause: unknown): void {
    this.#link = null;
    this.#events.broken();
    const fault = new Fault('unavailable', `${this.#name} ended unexpectedly`, { cause });
    for (const { reject } of this.#pending.values()) reject(fault);
    this.#pending.clear();
  }
}

function isAnswer<Pushed extends object>(message: ThreadAnswer | Pushed): message is ThreadAnswer {
  return 'call' in message;
}
