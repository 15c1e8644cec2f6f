/** MCP servers beside the hub: the official one for files, and one with nothing but the MCP package. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Cleanup } from './cleanup.ts';
import { openCall, type Read } from './hub-port.ts';

export interface Peer {
  readonly read: Read;
  readonly pid: number;
}

const filesystemServer = resolve('test/clients/node_modules/.bin/mcp-server-filesystem');
const packageServer = resolve('dist/bench/test/bench/mcp-server.js');

/** Starts the official filesystem server on stdio. */
export async function openFilesystemServer(folder: string, cleanup: Cleanup): Promise<Peer> {
  const stdio = new StdioClientTransport({
    command: process.execPath,
    args: [filesystemServer, folder],
    stderr: 'ignore',
  });
  const read = await openCall(stdio, cleanup, 'read_text_file', { path: join(folder, 'file') });
  return { read, pid: stdio.pid! };
}

/** Starts the server with the MCP package alone; the official client calls it over HTTP. */
export async function openPackageServer(folder: string, cleanup: Cleanup): Promise<Peer> {
  const child = spawn(process.execPath, [packageServer], { stdio: ['pipe', 'pipe', 'inherit'] });
  cleanup.add('a server of the MCP package', async () => void child.kill());
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  const http = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${Number(port)}/mcp`));
  return { read: await openCall(http, cleanup, 'read_file', { path: join(folder, 'file') }), pid: child.pid! };
}
