/** The command by which a client starts `carrel hub serve` of this installation. */
import { realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Context } from '../../../../client/cli.ts';
import { homeOf } from '../../../../client/home.ts';
import { packageFolder } from '../../../../lib/file/package.ts';

export interface ServerEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Variables that lead to a daemon of another account. CARREL_TOKEN is not among them: settings must not hold a token.
 */
const passedOn = ['CARREL_SOCKET', 'CARREL_TOKEN_FILE'];

export function serverEntry(
  { home, user }: Pick<Context, 'home' | 'user'>,
  options: readonly string[],
  hasPath: boolean,
  env: NodeJS.ProcessEnv = process.env,
): ServerEntry {
  const program = join(packageFolder, 'bin/carrel');
  const [command, ...before] = hasPath && isOnPath(program, env) ? ['carrel'] : [process.execPath, program];
  const installation = home === homeOf(undefined, {}) ? [] : ['--home', home];
  const args = [...before, ...installation, ...(user === null ? [] : ['--user', user]), 'hub', 'serve', ...options];
  const variables = passedOn.flatMap((name) => (env[name] ? [[name, env[name]] as const] : []));
  return { command: command!, args, ...(variables.length > 0 ? { env: Object.fromEntries(variables) } : {}) };
}

/** Whether the first `carrel` on PATH is this program. */
function isOnPath(program: string, { PATH = '' }: NodeJS.ProcessEnv): boolean {
  const real = (path: string) => {
    try {
      return realpathSync(path);
    } catch {
      return null;
    }
  };
  const found = PATH.split(delimiter).map((folder) => real(join(folder, 'carrel')));
  return found.find((path) => path !== null) === real(program);
}
