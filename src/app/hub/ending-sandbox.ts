/** A sandbox whose processes were just killed looks alive until the kernel has ended all of them. */
import { isFault } from '../../model/fault.ts';

const endMs = 10_000;

/** Tries again after the end of the sandbox, where the sandbox could run nothing any more. */
export async function afterItsEnd<T>(
  attempt: () => Promise<T>,
  ended: (signal: AbortSignal) => Promise<unknown>,
): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!isFault(error, 'not_ready')) throw error;
    // The next attempt says what is wrong, ignoring a wait in vain.
    await ended(AbortSignal.timeout(endMs)).catch(() => {});
    return attempt();
  }
}
