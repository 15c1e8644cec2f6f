import { readFileSync } from 'node:fs';
import { mcpListPath } from '../../model/mcp.ts';
import type { McpList } from './format.ts';

/** What the daemon wrote before the start; a sandbox of an earlier version has none. */
export function mcpList(path = mcpListPath): McpList {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as McpList;
  } catch {
    return { servers: [], shadowed: [] };
  }
}
