/** The log of a sandbox's connections as server-sent events. */
import type { Sent } from '../route.ts';
import type { NetworkDesk } from './desk.ts';

interface Query {
  readonly follow?: boolean | undefined;
  readonly tail?: number | undefined;
}

/** Rejects before the first event if there is no such sandbox. */
export async function sentLog(
  desk: NetworkDesk,
  name: string,
  { follow = false, tail }: Query,
  signal: AbortSignal,
): Promise<AsyncIterable<Sent>> {
  const lines = await desk.log(name, { follow, tail: tail ?? null, signal });
  return (async function* () {
    for await (const line of lines) yield { data: JSON.stringify(line) };
  })();
}
