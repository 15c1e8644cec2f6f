import { join } from 'node:path';
import { adapterPath } from '../model/agent.ts';
import type { Hook } from './launch.ts';
import { prepareTools, toolsName } from './tools.ts';

/** For a sandbox that runs the adapter: the adapter, and the daemon's Node where it is not below the host's /usr. */
export const adapter: Hook = {
  surroundings: ({ spec }, places) => {
    if (spec.command[0] !== adapterPath) return {};
    const usesHost = spec.rootfs === null && !spec.image;
    return {
      mounts: [
        { kind: 'bind', source: join(places.tools, toolsName()), target: '/opt/carrel/bin', readonly: true },
        ...(usesHost ? daemonNode() : []),
      ],
    };
  },
  prepare: ({ spec }, places) => {
    if (spec.command[0] === adapterPath) prepareTools(places.tools);
  },
};

function daemonNode() {
  if (process.execPath.startsWith('/usr/')) return [];
  return [{ kind: 'bind', source: process.execPath, target: '/opt/carrel/node', readonly: true } as const];
}
