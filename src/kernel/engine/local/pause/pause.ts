/**
 * Pauses sandboxes for work of the daemon. A note in the run folder names each pause: a pause that this process did not
 * make was left by a crash, and the next inspection ends it.
 */
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readIfThere } from '../../../../lib/file/file.ts';
import { crashPoint } from '../../../../lib/flow/crash-point.ts';
import type { ProcessRef } from '../../../../lib/process/process.ts';
import { Fault } from '../../../../model/fault.ts';
import { OwnPauses } from '../../own-pauses.ts';
import type { LocalContext } from '../context.ts';
import { freeze, freezerOf, isFrozen, thaw } from './freezer.ts';
import { continueAll, hasStopped, parentOf, processesInside, stopAll, stopStateOf } from './stopped.ts';

const pauseMs = 10_000;
const noteName = 'paused-by-us';

/**
 * Whether the sandbox is paused, by the daemon or from outside. No process inside can stop the first process of its pid
 * namespace.
 */
export function isPaused({ cgroups }: LocalContext, id: string, init: ProcessRef): boolean {
  const freezer = freezerOf(cgroups, id);
  return freezer ? isFrozen(freezer) : hasStopped(init.pid);
}

export class LocalPauses {
  readonly #context: LocalContext;
  readonly #own = new OwnPauses();
  /** Sandboxes that are known to have no pause left by an earlier process. */
  readonly #checked = new Set<string>();

  constructor(context: LocalContext) {
    this.#context = context;
  }

  over(id: string): Promise<void> | null {
    return this.#own.over(id);
  }

  ids(): string[] {
    return this.#own.ids();
  }

  begin(id: string, init: ProcessRef): Promise<void> {
    this.forget(id);
    return this.#own.begin(
      id,
      () => this.#hold(id, init),
      () => this.#release(id, init),
    );
  }

  async #hold(id: string, init: ProcessRef): Promise<void> {
    await this.#begunExecs(id);
    const freezer = freezerOf(this.#context.cgroups, id);
    const list = () => processesInside(init, this.#execPids(id));
    const spared = freezer ? [] : list().filter((pid) => stopStateOf(pid) === 'stopped');
    writeFileSync(this.#note(id), JSON.stringify(spared), { mode: 0o600 });
    const allStopped = freezer ? await freeze(freezer, pauseMs) : await stopAll(list, pauseMs, spared);
    crashPoint('pause:held');
    if (allStopped) return;
    throw new Fault('unavailable', 'a process inside the sandbox cannot be paused', {
      hint: 'Try again, or stop the sandbox first.',
    });
  }

  /**
   * Waits for execs that are about to enter the sandbox: they would run after all other processes have stopped, or be
   * refused.
   */
  async #begunExecs(id: string): Promise<void> {
    const deadline = Date.now() + pauseMs;
    const own = this.#execs(id).filter((folder) => folder.startsWith(`${process.pid}-`));
    const waiting = () => own.some((name) => this.#execs(id).includes(name) && this.#execPid(id, name) === null);
    while (waiting()) {
      if (Date.now() > deadline)
        throw new Fault('timeout', 'an exec in the sandbox did not start in time', {
          hint: 'Try again, or stop the sandbox first.',
        });
      await sleep(2);
    }
  }

  #execs(id: string): string[] {
    const folder = join(this.#context.layout.run(id), 'exec');
    return existsSync(folder) ? readdirSync(folder) : [];
  }

  #execPid(id: string, name: string): number | null {
    const pid = Number(readIfThere(join(this.#context.layout.run(id), 'exec', name, 'pid')) ?? 0);
    return pid > 0 ? pid : null;
  }

  /**
   * The pids of execs that still run. Another process may have the pid by now, so its parent must be the runtime that
   * was started.
   */
  #execPids(id: string): number[] {
    return this.#execs(id).flatMap((name) => {
      const pid = this.#execPid(id, name);
      const parent = pid === null ? null : parentOf(pid);
      return readIfThere(`/proc/${parent}/cmdline`)?.includes(join('exec', name)) ? pid! : [];
    });
  }

  /** Resumes everything inside, also after a pause from outside. */
  end(id: string, init: ProcessRef | null): Promise<void> {
    return this.#own.end(id, () => this.#release(id, init));
  }

  forget(id: string): void {
    this.#checked.delete(id);
  }

  /** Ends a pause that an earlier process made. */
  endAbandoned(id: string, init: () => ProcessRef | null): void {
    if (this.#checked.has(id)) return;
    if (!this.#own.has(id) && existsSync(this.#note(id))) this.#release(id, init());
    this.#checked.add(id);
  }

  #release(id: string, init: ProcessRef | null): void {
    const freezer = freezerOf(this.#context.cgroups, id);
    if (freezer) thaw(freezer);
    else if (init) continueAll(processesInside(init, this.#execPids(id)), this.#spared(id));
    rmSync(this.#note(id), { force: true });
  }

  #spared(id: string): number[] {
    return JSON.parse(readIfThere(this.#note(id)) || '[]') as number[];
  }

  #note(id: string): string {
    return join(this.#context.layout.run(id), noteName);
  }
}
