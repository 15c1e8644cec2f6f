/** A sandbox whose processes were just killed looks alive until the kernel has ended all of them. */
import { isFault } from '../../../../model/fault.ts';

const endMs = 10_000;

/** If the sandbox can run nothing any more (`not_ready`), waits for its end and tries again. */
export async function retryAfterEnd<T>(
  attempt: () => Promise<T>,
  ended: (signal: AbortSignal) => Promise<unknown>,
): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!isFault(error, 'not_ready')) throw error;
    // The next attempt reports what is wrong, ignoring a wait that failed.
    await ended(AbortSignal.timeout(endMs)).catch(() => {});
    return attempt();
  }
}
