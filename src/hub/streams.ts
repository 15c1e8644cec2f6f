/** MCP in lines of JSON on two streams. */
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { AnsweringTransport } from './answering.ts';
import { createServer, loadStdio, type McpParts } from './mcp.ts';

/** Until the input ends and its requests are answered, or until the input is destroyed, which cancels them. */
export async function serveStreams(parts: McpParts, input: Readable, output: Writable): Promise<void> {
  const { serveStdio, StdioServerTransport } = await loadStdio();
  // The transport drops what is unanswered when its input ends, so its own input ends later.
  const lines = input.pipe(new PassThrough(), { end: false });
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
