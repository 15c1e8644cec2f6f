/** Answers calls to the memories that are open here. */
import { Hosted } from '../../lib/wire/hosted.ts';
import { answerCall } from '../../lib/wire/thread-calls.ts';
import { Fault } from '../../model/fault.ts';
import { memoryFault } from './memory-fault.ts';
import type { FromMemoryThread, MemoryLink, MemoryReceiver, ToMemoryThread } from './memory-link.ts';
import { OpenedMemory, type OpenedMemoryOptions } from './opened-memory.ts';

type HostOptions = Partial<Pick<OpenedMemoryOptions, 'now' | 'extension'>>;

export class MemoryHost {
  readonly #memories = new Hosted<OpenedMemory>(
    (folder) => new Fault('unavailable', `the memory in ${folder} is not open`),
  );
  readonly #send: (message: FromMemoryThread) => void;
  readonly #options: HostOptions;

  constructor(send: (message: FromMemoryThread) => void, options: HostOptions = {}) {
    this.#send = send;
    this.#options = options;
  }

  receive(message: ToMemoryThread): void {
    answerCall(message.call, this.#do(message), this.#send);
  }

  closeAll(): Promise<void> {
    return this.#memories.closeAll();
  }

  async #do(message: ToMemoryThread): Promise<unknown> {
    const { folder } = message;
    try {
      if ('open' in message) return this.#open(message);
      return await this.#memories.call(folder, message);
    } catch (error) {
      throw memoryFault(folder, error);
    }
  }

  #open({ folder, open: limits, check }: Extract<ToMemoryThread, { open: unknown }>): null {
    const now = () => new Date();
    this.#memories.get(folder, () => new OpenedMemory(folder, { now, ...this.#options, limits, check }));
    return null;
  }
}

/** Runs the memories without a thread, for tests. */
export function startMemoryHere(receiver: MemoryReceiver, options?: HostOptions): MemoryLink {
  const host = new MemoryHost((message) => receiver.received(message), options);
  return { send: (message) => host.receive(message), end: () => host.closeAll() };
}
