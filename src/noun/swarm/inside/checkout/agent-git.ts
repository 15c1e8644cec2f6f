/** Git inside the sandbox: argv only, without hooks or a terminal, with fsync. */
import { spawn } from 'node:child_process';
import { collect } from '../../../../lib/process/collect.ts';
import type { Author } from '../../../../model/author.ts';
import { AdapterError } from '../../../agent/inside/adapter-error.ts';

export interface GitRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

const settings: Readonly<Record<string, string>> = {
  'safe.directory': '*',
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.fsync': 'committed,reference',
  'core.quotePath': 'false',
  'commit.gpgSign': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'advice.detachedHead': 'false',
  'advice.addEmbeddedRepo': 'false',
};

/** These folders come first on the PATH, before any that an agent may have added. */
const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const maxOutputBytes = 16 * 1024 ** 2;

export class AgentGit {
  readonly #env: Readonly<Record<string, string | undefined>>;

  constructor(env: Readonly<Record<string, string | undefined>>, author: Author) {
    const entries = Object.entries(settings);
    this.#env = {
      ...env,
      PATH: `${systemPath}:${env.PATH ?? ''}`,
      GIT_TERMINAL_PROMPT: '0',
      GIT_SSH_COMMAND: 'ssh -oBatchMode=yes',
      GIT_EDITOR: 'true',
      GIT_AUTHOR_NAME: author.name,
      GIT_AUTHOR_EMAIL: author.email,
      GIT_COMMITTER_NAME: author.name,
      GIT_COMMITTER_EMAIL: author.email,
      GIT_CONFIG_COUNT: String(entries.length),
      ...Object.fromEntries(
        entries.flatMap(([key, value], index) => [
          [`GIT_CONFIG_KEY_${index}`, key],
          [`GIT_CONFIG_VALUE_${index}`, value],
        ]),
      ),
    };
  }

  /** Returns git's output. Throws an AdapterError with the reason if git fails. */
  async ok(folder: string, args: readonly string[], input = ''): Promise<string> {
    const { exitCode, stdout, stderr } = await this.run(folder, args, input);
    if (exitCode === 0) return stdout.replace(/\n$/, '');
    throw new AdapterError(
      'UNKNOWN_ERROR',
      `git ${args[0]} failed in ${folder}: ${reasonIn(stderr) || `exit ${exitCode}`}`,
    );
  }

  run(folder: string, args: readonly string[], input = '', signal?: AbortSignal): Promise<GitRun> {
    return new Promise((resolve, reject) => {
      const stdio: 'pipe'[] = ['pipe', 'pipe', 'pipe'];
      const child = spawn('git', args, { cwd: folder, env: this.#env, stdio, ...(signal ? { signal } : {}) });
      child.on('error', (error: NodeJS.ErrnoException) => reject(notStarted(folder, error)));
      if (!child.stdin) return;
      const [stdout, stderr] = [collect(child.stdout, maxOutputBytes), collect(child.stderr, maxOutputBytes)];
      child.stdin.on('error', () => {});
      child.stdin.end(input);
      child.on('close', (code) => resolve({ exitCode: code ?? 255, stdout: `${stdout()}`, stderr: `${stderr()}` }));
    });
  }
}

function notStarted(folder: string, error: NodeJS.ErrnoException): AdapterError {
  return new AdapterError('UNKNOWN_ERROR', `git cannot be run in ${folder}: ${error.message}`);
}

/** The line with the error, without hints. */
export function reasonIn(stderr: string): string {
  const lines = stderr
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('hint:'));
  return lines.find((line) => /^(fatal|error):/.test(line)) ?? lines.at(-1) ?? '';
}
