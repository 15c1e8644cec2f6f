/**
 * Vitest's forks, each in a mount namespace of its own as each daemon is: engines mount over the same folder, so two
 * files that run at the same time would cover each other's mounts.
 *
 * A fork runs one file after the other: starting it and loading what most tests need takes half a second of processor
 * time. A file that replaces modules has a fork of its own, since later files would get the replaced ones.
 */
import { readFileSync } from 'node:fs';
import { ForksPoolWorker, type PoolRunnerInitializer, type PoolTask, type WorkerRequest } from 'vitest/node';

const inNamespace = `${import.meta.dirname}/harness/in-namespace`;
const poolName = 'own-namespace';

class Worker extends ForksPoolWorker {
  override readonly name = poolName;
  #hasReplaced = false;

  /** A fork runs the program of `process.execPath`, unless told otherwise. */
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
