/**
 * Finds the OCI runtimes and other programs of this machine. Beside it: what a runtime reads (`spec.ts`, with the filter of
 * `seccomp.ts`), how crun differs (`crun.ts`), and conmon, which runs it and keeps its sandbox (`keeper.ts`).
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Fault } from '../../../../model/fault.ts';

/** The default runtimes. The others behave differently, so they are used only if a user names them. */
const preferred = ['crun', 'runc'] as const;

export interface Runtime {
  readonly name: string;
  readonly path: string;
}

export function chooseRuntime(requested: string | null): Runtime {
  const candidates = requested === null ? preferred : [requested];
  for (const name of candidates) {
    const path = findProgram(name);
    if (path !== null) return { name, path };
  }
  throw new Fault('unsupported', `no runtime: ${candidates.join(' or ')} is not installed`, {
    hint: requested === null ? 'Run ./setup, or install crun.' : `Install ${requested}, or leave --runtime out.`,
  });
}

const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The path of a program, or null. Searches the system's folders even when PATH lacks them. */
export function findProgram(name: string): string | null {
  for (const folder of `${process.env.PATH ?? ''}:${systemPath}`.split(delimiter)) {
    const path = join(folder, name);
    if (folder.startsWith('/') && isExecutable(path)) return path;
  }
  return null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
