/** The log of a sandbox's connections as server-sent events. */
import type { SseEvent } from '../../../kernel/server/route.ts';
import type { UserNetworks } from './user-networks.ts';

interface Query {
  readonly follow?: boolean | undefined;
  readonly tail?: number | undefined;
}

/** Rejects before the first event if there is no such sandbox. */
export async function sentLog(
  networks: UserNetworks,
  name: string,
  { follow = false, tail }: Query,
  signal: AbortSignal,
): Promise<AsyncIterable<SseEvent>> {
  const lines = await networks.log(name, { follow, tail: tail ?? null, signal });
  return (async function* () {
    for await (const line of lines) yield { data: JSON.stringify(line) };
  })();
}
