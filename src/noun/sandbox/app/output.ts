/** The output of a sandbox, from its first start on. */
import type { Engine, LogLine, LogOptions } from '../../../kernel/engine/engine.ts';
import type { EarlierOutput } from './earlier-output.ts';

export async function* outputOf(
  engine: Pick<Engine, 'logs'>,
  id: string,
  earlier: EarlierOutput,
  options: LogOptions,
): AsyncGenerator<LogLine> {
  if (earlier.isEmpty) return yield* engine.logs(id, options);
  const missing = options.tail === null ? null : await linesMissing(engine, id, options.tail);
  if (missing === 0) return yield* engine.logs(id, options);
  yield* earlier.read(missing);
  yield* engine.logs(id, { ...options, tail: null });
}

/** How many lines of the tail the engine's own log lacks. */
async function linesMissing(engine: Pick<Engine, 'logs'>, id: string, tail: number): Promise<number> {
  let found = 0;
  let open = false;
  for await (const { bytes } of engine.logs(id, { follow: false, tail })) {
    open = bytes.at(-1) !== 0x0a;
    if (!open) found += 1;
  }
  return Math.max(0, tail - found - (open ? 1 : 0));
}

const maxBytes = 64 * 1024;

/** Joins lines of one stream that are available already, so that many short lines cost little. */
export async function* gathered(lines: AsyncIterable<LogLine>): AsyncGenerator<Pick<LogLine, 'stream' | 'bytes'>> {
  const source = lines[Symbol.asyncIterator]();
  let next = source.next();
  try {
    for (;;) {
      const first = await next;
      if (first.done) return;
      const { stream, bytes } = first.value;
      const held = [bytes];
      let size = bytes.length;
      const idle = new Promise<null>((resolve) => setImmediate(resolve, null));
      for (;;) {
        next = source.next();
        const found = await Promise.race([next, idle]);
        if (found === null || found.done || found.value.stream !== stream || size >= maxBytes) break;
        held.push(found.value.bytes);
        size += found.value.bytes.length;
      }
      yield { stream, bytes: Buffer.concat(held) };
    }
  } finally {
    next.catch(() => {});
    await source.return?.();
  }
}
