/**
 * What a Docker Engine logged: one frame per record, `TIME CONTENT`. A line longer than its buffer is split into
 * pieces, and the `local` driver loses the newline of such a line, which is restored here. The log does not show
 * whether it ends within such a line, so that line gets a newline too.
 */
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogLine, LogOptions } from '../../engine.ts';
import { type Connection, statusOf } from '../connection/connection.ts';
import { type OutputFrame, OutputFrameReader } from '../connection/frames.ts';
import { LogPosition } from './log-position.ts';
import { RawLogReader } from './raw-log.ts';

/** The length of all pieces of a line except the last. */
const pieceBytes = 16 * 1024;
const newline = Buffer.from('\n');

export class RecordReader {
  readonly #open = { stdout: false, stderr: false };

  read({ stream, bytes }: OutputFrame): LogLine {
    const space = bytes.indexOf(0x20);
    const at = bytes.toString('latin1', 0, Math.max(space, 0));
    const content = bytes.subarray(space + 1);
    return { at, stream, bytes: Buffer.from(this.#completed(stream, content)) };
  }

  #completed(stream: LogLine['stream'], content: Buffer): Buffer {
    const whole = content.at(-1) === 0x0a;
    const goesOn = !whole && content.length >= pieceBytes;
    const lacksNewline = !whole && !goesOn && this.#open[stream];
    this.#open[stream] = goesOn;
    return lacksNewline ? Buffer.concat([content, newline]) : content;
  }
}

export async function* readLog(
  connection: Connection,
  container: string,
  options: LogOptions,
): AsyncGenerator<LogLine> {
  const { follow, signal } = options;
  const tail = options.tail === null ? null : await recordsOf(connection, container, options.tail);
  if (follow) yield* followed(connection, container, { tail: tail?.length ?? null, signal });
  else yield* tail ?? records(connection, container, {});
}

/** An engine may stop following before it has sent the last records, so these are requested afterwards. */
async function* followed(connection: Connection, container: string, range: Range): AsyncGenerator<LogLine> {
  const position = new LogPosition();
  for await (const record of records(connection, container, { ...range, follow: true })) {
    position.pass(record);
    yield record;
  }
  if (range.signal?.aborted) return;
  const { since } = position;
  const rest = records(connection, container, since === null ? range : { ...range, tail: null, since });
  yield* position.after(rest);
}

/** The engine counts records, and a long line is several records: requests more until there are enough lines. */
async function recordsOf(connection: Connection, container: string, lines: number): Promise<LogLine[]> {
  if (lines === 0) return [];
  for (let tail = lines; ; tail *= 4) {
    const found: LogLine[] = [];
    for await (const record of records(connection, container, { tail })) found.push(record);
    const starts = startsOfLines(found);
    if (starts.length > lines) return found.slice(starts.at(-lines));
    if (found.length < tail || starts.length === found.length) return found;
  }
}

/** The indices at which lines begin: after a record that ended a line of its stream. */
function startsOfLines(records: readonly LogLine[]): number[] {
  const open = { stdout: false, stderr: false };
  return records.flatMap(({ stream, bytes }, index) => {
    const begins = !open[stream];
    open[stream] = bytes.at(-1) !== 0x0a;
    return begins ? [index] : [];
  });
}

interface Range {
  /** The number of records from the end. */
  readonly tail?: number | null;
  /** Seconds since 1970. */
  readonly since?: string;
  readonly follow?: boolean;
  readonly signal?: AbortSignal | undefined;
}

async function* records(connection: Connection, container: string, range: Range): AsyncGenerator<LogLine> {
  const { tail, since, follow, signal } = range;
  const query = {
    ...{ stdout: '1', stderr: '1', timestamps: '1', follow: follow ? '1' : '0', tail: String(tail ?? 'all') },
    ...(since ? { since } : {}),
  };
  const answer = await openLog(connection, container, query);
  if (answer === null) return;
  const [frames, reader] = [await frameReader(connection, container), new RecordReader()];
  const stop = () => answer.destroy();
  signal?.addEventListener('abort', stop);
  if (signal?.aborted) stop();
  try {
    for await (const chunk of answer) {
      for (const frame of frames.push(chunk as Buffer)) {
        yield reader.read(frame);
        if (signal?.aborted) return;
      }
    }
    for (const frame of frames.end()) yield reader.read(frame);
  } catch (error) {
    if (!signal?.aborted) throw connection.brokeOff(error);
  } finally {
    signal?.removeEventListener('abort', stop);
    answer.destroy();
  }
}

/** The log of a terminal has no frames. */
async function frameReader(connection: Connection, container: string): Promise<OutputFrameReader | RawLogReader> {
  const found = await connection.find((docker) => docker.getContainer(container).inspect());
  return found?.Config.Tty ? new RawLogReader(pieceBytes) : new OutputFrameReader();
}

const triesWhileBusy = 20;

/**
 * Null: there is no such container. While a container is being removed, the engine may refuse its log for a moment, so
 * the request is retried.
 */
async function openLog(
  connection: Connection,
  container: string,
  query: Readonly<Record<string, string>>,
): Promise<IncomingMessage | null> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await connection.stream(`/containers/${container}/logs`, query);
    } catch (error) {
      const status = statusOf(error);
      if (status === 404) return null;
      if (status !== 409 || tries === triesWhileBusy) throw error;
      await sleep(50);
    }
  }
}
