import { dirname, join } from 'node:path';
import { adapterPath } from '../model/agent.ts';
import type { SandboxSpec } from '../model/sandbox.ts';
import { idlePath } from '../model/spoke.ts';
import { languageServers } from './language-servers.ts';
import type { Hook } from './launch.ts';
import { prepareTools, toolsName } from './tools.ts';

/** Our programs, for a sandbox that runs one of them or has a room, and the daemon's Node where it is not below the host's /usr. */
export const adapter: Hook = {
  surroundings: ({ spec }, places) => {
    if (!needsTools(spec)) return {};
    const usesHost = spec.rootfs === null && !spec.image;
    return {
      mounts: [
        { kind: 'bind', source: join(places.tools, toolsName()), target: toolsFolder, readonly: true },
        ...(usesHost ? daemonNode() : []),
        ...(spec.command[0] === idlePath ? languageServers() : []),
      ],
    };
  },
  prepare: ({ spec }, places) => {
    if (needsTools(spec)) prepareTools(places.tools);
  },
};

const toolsFolder = dirname(adapterPath);

/** Whether its programs of Carrel are mounted. */
export function needsTools({ command, rooms = [] }: SandboxSpec): boolean {
  return rooms.length > 0 || (command[0]?.startsWith(`${toolsFolder}/`) ?? false);
}

function daemonNode() {
  if (process.execPath.startsWith('/usr/')) return [];
  return [{ kind: 'bind', source: process.execPath, target: '/opt/carrel/node', readonly: true } as const];
}
