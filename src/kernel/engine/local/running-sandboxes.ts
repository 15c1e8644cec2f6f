/**
 * The running sandboxes. The daemon holds descriptors of the first process, the keeper and the freezer of each. Reading
 * /proc for hundreds of sandboxes would take longer than everything else in a list.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { isSameProcess, maxDescriptors, type ProcessRef } from '../../../lib/process/process.ts';
import { HeldProcesses } from '../../../lib/sys/pidfd.ts';
import type { LocalContext } from './context.ts';
import type { LocalHandle } from './handle.ts';
import { type Freezer, freezerOf } from './pause/freezer.ts';

interface Held {
  readonly init: ProcessRef;
  readonly processes: HeldProcesses;
  readonly freezer: Freezer;
  readonly freezerFd: number;
}

const descriptorsEach = 3;
/** A quarter of the daemon's descriptors may be used for sandboxes. */
const share = 4;

export class RunningSandboxes {
  readonly #context: LocalContext;
  readonly #held = new Map<string, Held>();
  readonly #max = Math.floor(maxDescriptors() / share / descriptorsEach);

  constructor(context: LocalContext) {
    this.#context = context;
  }

  /**
   * True: the first process and the keeper live, and the sandbox is not frozen. False: unknown, so the caller must
   * observe it.
   */
  has(id: string, handle: LocalHandle): boolean {
    const held = this.#holding(id, handle);
    if (held === null) return false;
    if (held.processes.live()) return isThawed(held);
    this.drop(id);
    return false;
  }

  #holding(id: string, handle: LocalHandle): Held | null {
    const known = this.#held.get(id);
    if (known && isSameProcess(known.init, handle.init)) return known;
    this.drop(id);
    const held = this.#held.size < this.#max ? hold(this.#context, id, handle) : null;
    if (held !== null) this.#held.set(id, held);
    return held;
  }

  drop(id: string): void {
    const held = this.#held.get(id);
    if (!held) return;
    this.#held.delete(id);
    held.processes.close();
    closeSync(held.freezerFd);
  }

  close(): void {
    for (const id of [...this.#held.keys()]) this.drop(id);
  }
}

/** Null: there is no freezer, so only the state of the processes shows whether the sandbox is paused. */
function hold({ cgroups }: LocalContext, id: string, { init, keeper }: LocalHandle): Held | null {
  const freezer = freezerOf(cgroups, id);
  const processes = freezer && HeldProcesses.open([init, keeper]);
  if (!freezer || !processes) return null;
  try {
    return { init, processes, freezer, freezerFd: openSync(freezer.file, 'r') };
  } catch {
    // The group was removed meanwhile, ignoring: the observation that follows finds out why.
    processes.close();
    return null;
  }
}

const state = Buffer.alloc(16);

function isThawed({ freezer, freezerFd }: Held): boolean {
  try {
    return state.toString('latin1', 0, readSync(freezerFd, state, 0, state.length, 0)).trim() === freezer.thawed;
  } catch {
    // The group was removed meanwhile, ignoring: as above.
    return false;
  }
}
