/**
 * Vitest's forks, each in a mount namespace of its own as each daemon is: engines mount over one and the same folder, so two
 * files at a time would cover what the other put there.
 *
 * A fork runs one file after the other: starting it and loading what most tests need takes half a second of processor time. A
 * file that replaces modules has a fork of its own, since others would find the replaced ones loaded.
 */
import { readFileSync } from 'node:fs';
import { ForksPoolWorker, type PoolRunnerInitializer, type PoolTask, type WorkerRequest } from 'vitest/node';

const inNamespace = `${import.meta.dirname}/harness/in-namespace`;
const poolName = 'own-namespace';

class Worker extends ForksPoolWorker {
  override readonly name = poolName;
  #hasReplaced = false;

  /** A fork is what this process is, unless it says otherwise. */
  override start(): Promise<void> {
    const node = process.execPath;
    process.execPath = inNamespace;
    try {
      return super.start();
    } finally {
      process.execPath = node;
    }
  }

  override send(message: WorkerRequest): void {
    if (message.type === 'run') this.#hasReplaced ||= replacesModules(message.context);
    super.send(message);
  }

  canReuse(task: PoolTask): boolean {
    return !this.#hasReplaced && !replacesModules(task.context);
  }
}

function replacesModules({ files }: PoolTask['context']): boolean {
  return files.some(({ filepath }) => /^vi\.mock\(/m.test(readFileSync(filepath, 'utf8')));
}

export const ownNamespace: PoolRunnerInitializer = {
  name: poolName,
  createPoolWorker: (options) => new Worker(options),
};
