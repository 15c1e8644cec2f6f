import { Fault } from '../../../../model/fault.ts';

/** Rejects with `cancelled` when the signal is aborted first. */
export function within<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const refuse = () => reject(new Fault('cancelled', 'the request was cancelled'));
    if (signal.aborted) refuse();
    signal.addEventListener('abort', refuse, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', refuse));
  });
}
