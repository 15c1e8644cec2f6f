/** What the daemon and a thread of the memory send each other. */
import type { ThreadAnswer } from '../../lib/wire/thread-calls.ts';
import { startThread, type ThreadLink, type ThreadReceiver } from '../../lib/wire/thread-link.ts';
import type { Memory } from './memory.ts';
import type { MemoryLimits } from './model/memory.ts';

export type ToMemoryThread =
  | { readonly call: number; readonly folder: string; readonly open: MemoryLimits; readonly check: boolean }
  | {
      readonly call: number;
      readonly folder: string;
      readonly method: keyof Memory;
      readonly args: readonly unknown[];
    };

export type FromMemoryThread = ThreadAnswer;

export type MemoryLink = ThreadLink<ToMemoryThread>;
export type MemoryReceiver = ThreadReceiver<FromMemoryThread>;

export function startMemoryThread(receiver: MemoryReceiver): MemoryLink {
  return startThread('memory-thread', 'a thread of the memory', receiver);
}
