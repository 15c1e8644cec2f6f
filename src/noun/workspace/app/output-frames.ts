import type { Frames } from '../../../kernel/server/route.ts';
import { encodeFrame } from '../../../lib/wire/stream.ts';

/** The output of git in frames. It waits for the first bytes: an error before them is an ordinary refusal. */
export async function outputFrames(produce: (warn: (text: string) => void) => AsyncGenerator<Buffer>): Promise<Frames> {
  const warnings: string[] = [];
  const chunks = produce((text) => void warnings.push(text));
  const first = await chunks.next();
  return async (write) => {
    for (const text of warnings) await write(encodeFrame('stderr', Buffer.from(`${text}\n`)));
    if (!first.done) await write(encodeFrame('stdout', first.value));
    for await (const chunk of chunks) await write(encodeFrame('stdout', chunk));
    return undefined;
  };
}
