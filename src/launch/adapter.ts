import { join } from 'node:path';
import { adapterPath } from '../model/agent.ts';
import type { Hook } from './launch.ts';
import { prepareTools, toolsName } from './tools.ts';

/** For a sandbox that runs the adapter: the adapter itself, and the Node that we run on where the host's programs lack it. */
export const adapter: Hook = {
  surroundings: ({ spec }, places) => {
    if (spec.command[0] !== adapterPath) return {};
    const usesHost = spec.rootfs === null && !spec.image;
    return {
      mounts: [
        { kind: 'bind', source: join(places.tools, toolsName()), target: '/opt/carrel/bin', readonly: true },
        ...(usesHost ? ourNode() : []),
      ],
    };
  },
  prepare: ({ spec }, places) => {
    if (spec.command[0] === adapterPath) prepareTools(places.tools);
  },
};

function ourNode() {
  if (process.execPath.startsWith('/usr/')) return [];
  return [{ kind: 'bind', source: process.execPath, target: '/opt/carrel/node', readonly: true } as const];
}
