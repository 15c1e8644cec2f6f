/** MCP in lines of JSON on two streams. */
import { type Readable, Transform, type Writable } from 'node:stream';
import { TokenCount } from '../lib/bounded-json.ts';
import { AnsweringTransport } from './answering.ts';
import { createServer, loadStdio, type McpParts } from './mcp.ts';

/** Until the input ends and its requests are answered, or until the input is destroyed, which cancels them. */
export async function serveStreams(parts: McpParts, input: Readable, output: Writable): Promise<void> {
  const { serveStdio, StdioServerTransport } = await loadStdio();
  // The transport drops what is unanswered when its input ends, so its own input ends later.
  const lines = input.pipe(countedLines(), { end: false });
  let ended = false;
  const endIfAnswered = () => {
    if (ended && transport.unanswered === 0) lines.end();
  };
  const transport = new AnsweringTransport(new StdioServerTransport(lines, output), endIfAnswered);
  const served = serveStdio(() => createServer(parts), { transport });
  const closed = new Promise<void>((resolve) => lines.once('close', resolve));
  input.once('close', () => {
    ended = true;
    if (!input.readableEnded) lines.destroy();
    // The last lines are still on their way.
    else setImmediate(endIfAnswered);
  });
  await closed;
  await served.close();
}

/** Ends at a line with more values than may be parsed at once. */
function countedLines(): Transform {
  const tokens = new TokenCount('lines');
  const lines = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      tokens.push(chunk);
      if (tokens.refusal !== null) lines.destroy();
      done(null, chunk);
    },
  });
  return lines;
}
