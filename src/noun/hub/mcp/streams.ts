/** MCP in lines of JSON on two streams. */
import { type Readable, Transform, type Writable } from 'node:stream';
import { setImmediate as breathe } from 'node:timers/promises';
import { TokenCount } from '../../../lib/wire/bounded-json.ts';
import { createServer, loadStdio, type McpParts } from './mcp.ts';
import { PendingRequestTransport } from './pending-request-transport.ts';

const newline = 0x0a;
const linesAtOnce = 20;

/** Serves until the input ends and its requests are answered, or until the input is destroyed, which cancels them. */
export async function serveStreams(parts: McpParts, input: Readable, output: Writable): Promise<void> {
  const { serveStdio, StdioServerTransport } = await loadStdio();
  // The transport drops unanswered requests when its input ends, so the stream that it reads ends later than `input`.
  const lines = input.pipe(
    countedLines(() => endIfAnswered()),
    { end: false },
  );
  let ended = false;
  const endIfAnswered = () => {
    if (ended && lines.writableLength === 0 && transport.pendingCount === 0) lines.end();
  };
  const transport = new PendingRequestTransport(new StdioServerTransport(lines, output), endIfAnswered);
  const served = serveStdio(() => createServer(parts), { transport });
  const closed = new Promise<void>((resolve) => lines.once('close', resolve));
  input.once('close', () => {
    ended = true;
    if (!input.readableEnded) lines.destroy();
    // The last lines may not have reached the transport yet.
    else setImmediate(endIfAnswered);
  });
  await closed;
  await served.close();
}

/** Closes the stream at a line with more values than may be parsed at once. */
function countedLines(onEmpty: () => void): Transform {
  const tokens = new TokenCount('lines');
  const lines = new Transform({
    async transform(chunk: Buffer, _encoding, done) {
      tokens.push(chunk);
      if (tokens.refusal !== null) lines.destroy();
      for (const piece of piecesOf(chunk)) {
        lines.push(piece);
        await breathe();
      }
      done();
      setImmediate(onEmpty);
    },
  });
  return lines;
}

/** Splits a chunk into pieces of a few lines, so that other requests are answered between them. */
function* piecesOf(chunk: Buffer): Generator<Buffer> {
  let [start, count] = [0, 0];
  for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, end + 1)) {
    count += 1;
    if (count % linesAtOnce > 0) continue;
    yield chunk.subarray(start, end + 1);
    start = end + 1;
  }
  if (start < chunk.length) yield chunk.subarray(start);
}
