/** The record of a sandbox's connections, on its way out. */
import type { Context as HonoContext } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { NetworkDesk } from './desk.ts';

interface Query {
  readonly follow?: boolean | undefined;
  readonly tail?: number | undefined;
}

export async function networkStream(
  desk: NetworkDesk,
  name: string,
  { follow = false, tail }: Query,
  context: HonoContext,
): Promise<Response> {
  const abort = new AbortController();
  const lines = await desk.log(name, { follow, tail: tail ?? null, signal: abort.signal });
  return streamSSE(context, async (sse) => {
    sse.onAbort(() => abort.abort());
    for await (const line of lines) {
      if (sse.aborted) return;
      await sse.writeSSE({ data: JSON.stringify(line) });
    }
  });
}
