import type { SandboxPart } from '../part/part.ts';
import { systemFolders } from '../part/part.ts';

/** The tmpfs at /tmp may take at most half of the memory of the sandbox. */
const tmpShare = 0.5;

const ownFolders = ['/home/agent/.local/bin', '/opt/carrel/bin'];

/** The PATH: Carrel's own folders, then those of the image, then those of every system. */
function searchPath(image: string): string {
  const named = image.split(':').filter((folder) => folder.startsWith('/'));
  return [...new Set([...ownFolders, ...named, ...systemFolders])].join(':');
}

/** Mounts and variables that programs expect on every system. */
export const system: SandboxPart = {
  additions: ({ spec }) => ({
    cwd: '/home/agent',
    mounts: [
      { kind: 'tmpfs', target: '/tmp', sizeBytes: Math.floor(spec.limits.memoryBytes * tmpShare), mode: 0o1777 },
    ],
    env: {
      PATH: searchPath(spec.imagePath ?? ''),
      HOME: '/home/agent',
      USER: 'agent',
      LOGNAME: 'agent',
      SHELL: '/bin/bash',
      LANG: 'C.UTF-8',
      TERM: 'xterm-256color',
    },
  }),
};
