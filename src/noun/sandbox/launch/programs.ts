import { dirname, join } from 'node:path';
import { adapterPath } from '../../agent/model/agent.ts';
import { idlePath } from '../../hub/model/spoke.ts';
import type { SandboxPart } from '../part/part.ts';
import { languageServers, prepareTools, toolsName } from '../tools/tools.ts';

/**
 * Mounts the programs of Carrel, so that every sandbox can have sessions, and the daemon's Node if it is not below
 * /usr.
 */
export const programs: SandboxPart = {
  additions: ({ spec }, places) => {
    const usesHost = spec.rootfs === null && !spec.image;
    return {
      mounts: [
        { kind: 'bind', source: join(places.tools, toolsName()), target: dirname(adapterPath), readonly: true },
        ...(usesHost ? daemonNode() : []),
        ...(spec.command[0] === idlePath ? languageServers() : []),
      ],
    };
  },
  prepare: (_sandbox, places) => prepareTools(places.tools),
};

function daemonNode() {
  if (process.execPath.startsWith('/usr/')) return [];
  return [{ kind: 'bind', source: process.execPath, target: '/opt/carrel/node', readonly: true } as const];
}
