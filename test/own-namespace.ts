/**
 * Vitest's forks, each in a mount namespace of its own as each daemon is: engines mount over one and the same folder, so two
 * files at a time would cover what the other put there.
 */
import { ForksPoolWorker, type PoolRunnerInitializer } from 'vitest/node';

const inNamespace = `${import.meta.dirname}/harness/in-namespace`;

class Worker extends ForksPoolWorker {
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
}

export const ownNamespace: PoolRunnerInitializer = {
  name: 'own-namespace',
  createPoolWorker: (options) => new Worker(options),
};
