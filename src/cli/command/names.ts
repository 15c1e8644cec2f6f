import { sandboxNamePattern } from '../../model/name.ts';
import type { Context } from '../context.ts';
import { connectRunning } from '../daemon.ts';

const patienceMs = 500;

/** For completion scripts: quick, silent when anything is amiss, and never the reason that a daemon starts. */
export default async function names(context: Context): Promise<void> {
  try {
    const signal = AbortSignal.timeout(patienceMs);
    const sandboxes = await connectRunning(context).call('listSandboxes', { signal });
    // A shell takes these words apart, so nothing but a name may be among them.
    context.out.print(...sandboxes.map(({ name }) => name).filter((name) => sandboxNamePattern.test(name)));
  } catch {
    // No daemon: no names.
  }
}
