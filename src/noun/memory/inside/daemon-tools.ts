/** Tools of the daemon, for an MCP server inside a sandbox. The daemon has the list of tools. */

import type { Toolset } from '../../../inside/tool-server.ts';
import { memoryEnv } from '../model/memory.ts';
import { callDaemon } from './daemon-call.ts';
import type { DaemonTools } from './inside.ts';

export function daemonTools(tools: DaemonTools): Toolset {
  const { path } = tools;
  const address = process.env.CARREL_MEMORY ?? memoryEnv.CARREL_MEMORY;
  return {
    ...tools,
    // The daemon refuses the names of tools that it does not have.
    has: (name) => /^[a-z_]{1,40}$/.test(name),
    list: () => callDaemon(address, { method: 'GET', path, isRepeatable: true }),
    call: async (name, input) => {
      const isRepeatable = tools.isRepeatable(name);
      const body = tools.input?.(name, input) ?? input;
      return tools.result(await callDaemon(address, { method: 'POST', path: `${path}/${name}`, body, isRepeatable }));
    },
  };
}
