/** An MCP server over stdio, whose tools are those of the daemon. */
import { createInterface } from 'node:readline';
import { asFault, faultTable } from '../../model/fault.ts';
import { memoryEnv } from '../../model/memory.ts';
import { callDaemon } from './daemon-call.ts';
import type { Toolset } from './memory.ts';
import { ToolServer } from './server.ts';

/** More than the daemon accepts; longer lines are skipped. */
const maxLine = 4 * 1024 ** 2;

export async function serveStdio(tools: Toolset): Promise<void> {
  const write = (message: object) => void process.stdout.write(`${JSON.stringify(message)}\n`);
  const address = process.env.CARREL_MEMORY ?? memoryEnv.CARREL_MEMORY;
  const server = new ToolServer(tools, (request) => callDaemon(address, request), write);
  process.stdout.on('error', () => process.exit(0));
  const open = new Set<Promise<void>>();
  try {
    for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (line.length > maxLine || line.trim() === '') continue;
      const work = server.receive(line).finally(() => open.delete(work));
      open.add(work);
    }
    await Promise.all(open);
  } catch (error) {
    const { code, message } = asFault(error);
    process.stderr.write(`${tools.name}: ${message}\n`);
    process.exitCode = faultTable[code].exit;
  }
}
