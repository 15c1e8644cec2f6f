/** The options of `run` and `create` → what the daemon is asked for. */
import { resolve } from 'node:path';
import type { SandboxRequest } from '../api/routes.ts';
import { Fault } from '../model/fault.ts';
import { checkSandboxName } from '../model/name.ts';
import { parseSize } from '../model/size.ts';
import { parseCount, parseEnv, parseNumber, parsePairs } from './option.ts';

export interface SandboxOptions {
  readonly name?: string;
  readonly engine?: 'local';
  readonly runtime?: 'crun' | 'runc' | 'runsc' | 'sysbox-runc';
  readonly user?: string;
  readonly mode?: 'overlay' | 'bind' | 'clone' | 'none';
  readonly base?: 'live' | 'frozen';
  readonly cpus?: string;
  readonly memory?: string;
  readonly swap?: string;
  readonly pids?: string;
  readonly disk?: string;
  readonly env?: readonly string[];
  readonly rootfs?: string;
  readonly label?: readonly string[];
  readonly rm?: boolean;
  readonly detach?: boolean;
}

export function sandboxRequest(
  options: SandboxOptions,
  project: string | undefined,
  command: readonly string[],
): SandboxRequest {
  const { name, engine, runtime, user, env, label, rootfs } = options;
  return {
    ...(name === undefined ? {} : { name: checkSandboxName(name) }),
    ...(engine === undefined ? {} : { engine }),
    ...(runtime === undefined ? {} : { runtime }),
    ...(user === undefined ? {} : { user }),
    ...(project === undefined ? {} : { project: absolute(project, 'PROJECT') }),
    mode: options.mode ?? (project === undefined ? 'none' : 'overlay'),
    ...(options.base === undefined ? {} : { base: options.base }),
    command: [...command],
    ...(env === undefined ? {} : { env: parseEnv(env) }),
    limits: askedLimits(options),
    ...(rootfs === undefined ? {} : { rootfs: absolute(rootfs, '--rootfs') }),
    ...(label === undefined ? {} : { labels: parsePairs(label, '--label') }),
    ...(options.rm ? { autoRemove: true } : {}),
  };
}

function askedLimits({ cpus, memory, swap, pids, disk }: SandboxOptions): NonNullable<SandboxRequest['limits']> {
  return {
    ...(cpus === undefined ? {} : { cpus: parseNumber(cpus, '--cpus') }),
    ...(memory === undefined ? {} : { memoryBytes: parseSize(memory, '--memory') }),
    ...(swap === undefined ? {} : { swapBytes: parseSize(swap, '--swap') }),
    ...(pids === undefined ? {} : { pids: parseCount(pids, '--pids') }),
    ...(disk === undefined ? {} : { diskBytes: parseSize(disk, '--disk') }),
  };
}

/** The daemon has another working folder than the user. An empty path is an unset variable, not the current folder. */
function absolute(path: string, what: string): string {
  if (path !== '') return resolve(path);
  throw new Fault('invalid', `${what}: the path is empty`, { hint: 'Write . for the current folder.' });
}
