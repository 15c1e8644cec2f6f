import { readFileSync } from 'node:fs';
import { mcpListPath } from '../../model/mcp.ts';
import type { McpList } from './mcp.ts';

/** The list that the daemon wrote before the start; empty in a sandbox of an earlier version. */
export function mcpList(path = mcpListPath): McpList {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as McpList;
  } catch {
    return { servers: [], shadowed: [] };
  }
}
