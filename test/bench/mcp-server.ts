/**
 * A server with nothing but the MCP package and one tool, `read_file`, as a process of its own: it shows the time that
 * the official client and the package take by themselves. Prints its port, and ends when its input ends.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const inputSchema = z.strictObject({ path: z.string() });

function mcpServer(): McpServer {
  const server = new McpServer({ name: 'bench', version: '1' });
  server.registerTool('read_file', { description: 'Read a file.', inputSchema }, async ({ path }) => {
    const structuredContent = { path, content: await readFile(path, 'utf8') };
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
  });
  return server;
}

const answer = toNodeHandler(createMcpHandler(mcpServer));
const server = createServer((request, response) => void answer(request as Parameters<typeof answer>[0], response));
await once(server.listen(0, '127.0.0.1'), 'listening');
process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
process.stdin.on('end', () => process.exit(0)).resume();
