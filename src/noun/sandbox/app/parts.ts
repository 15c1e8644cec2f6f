/** Calls the parts of a sandbox, in the order of their list, at each point of its life. */
import type { LogLimits } from '../../../kernel/engine/engine.ts';
import type { Kernel } from '../../../kernel/kernel.ts';
import { asFault } from '../../../model/fault.ts';
import type { Limits } from '../../../model/limits.ts';
import type { Sandbox } from '../model.ts';
import type { SandboxPart } from '../part/part.ts';
import type { SandboxData } from '../reconcile/reconcile.ts';
import { EarlierOutput } from './earlier-output.ts';

export interface DataParts extends Pick<Kernel, 'home' | 'report'> {
  readonly log: LogLimits;
  readonly parts: readonly SandboxPart[];
}

export function sandboxData({ home, log, parts, report }: DataParts): SandboxData {
  return {
    prepare: async (sandbox) => {
      const enforced: (keyof Limits)[] = [];
      for (const part of parts) await part.prepare?.(sandbox, home, (limit) => enforced.push(limit));
      return enforced;
    },
    connect: async (sandbox, init) => {
      for (const part of parts) await part.connect?.(sandbox, init);
    },
    conclude: (sandbox) =>
      conclude(parts, sandbox).catch((error: unknown) => {
        report(sandbox.id, asFault(error));
        return sandbox.spec.autoRemove;
      }),
    keepOutput: (sandbox, lines) =>
      new EarlierOutput(home.sandbox(sandbox.id), log)
        .keep(sandbox.status.attempt, lines)
        .catch((error: unknown) => report(sandbox.id, asFault(error))),
    release: (sandbox) => release(parts, sandbox),
  };
}

/** True: the sandbox is kept in spite of `autoRemove`. */
async function conclude(parts: readonly SandboxPart[], sandbox: Sandbox): Promise<boolean> {
  let isKept = false;
  const keep = () => {
    isKept = true;
  };
  for (const part of parts) await part.conclude?.(sandbox, keep);
  return isKept;
}

/** All parts release what they have, and then the first error is thrown: the removal is tried again. */
async function release(parts: readonly SandboxPart[], sandbox: Sandbox): Promise<void> {
  const errors: unknown[] = [];
  for (const part of parts) {
    try {
      await part.release?.(sandbox);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
