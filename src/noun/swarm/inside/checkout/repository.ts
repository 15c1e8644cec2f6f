/** The repository of the stories: the workspace, or a clone that is made once. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { AdapterError } from '../../../agent/inside/adapter-error.ts';
import { type AgentGit, reasonIn } from './agent-git.ts';

export interface RepositorySource {
  readonly repoUrl?: string | undefined;
  readonly workspace: string;
  /** The folder for a clone. */
  readonly data: string;
  /** Cancels a clone. */
  readonly signal: AbortSignal;
}

export interface Repository {
  /** Its main checkout. */
  readonly folder: string;
  readonly gitFolder: string;
}

export async function openRepository(
  git: AgentGit,
  { repoUrl, workspace, data, signal }: RepositorySource,
): Promise<Repository> {
  const start = repoUrl === undefined ? workspace : await clone(git, repoUrl, data, signal);
  const { exitCode, stdout } = await git
    .run(start, ['rev-parse', '--path-format=absolute', '--show-toplevel', '--git-common-dir'])
    .catch(() => ({ exitCode: 1, stdout: '' }));
  const [folder, gitFolder] = stdout.trimEnd().split('\n');
  if (exitCode === 0 && folder && gitFolder) return { folder, gitFolder };
  throw new AdapterError('GIT_CHECKOUT_FAILED', `${start} is not in a git repository, and the request names none`);
}

/** Clones under a temporary name, which is changed when the clone is complete. */
async function clone(git: AgentGit, url: string, data: string, signal: AbortSignal): Promise<string> {
  const target = join(data, 'repository');
  if (existsSync(target)) return target;
  const partial = `${target}.new`;
  rmSync(partial, { recursive: true, force: true });
  const allowed = ['https', 'ssh'].flatMap((name) => ['-c', `protocol.${name}.allow=always`]);
  const args = ['-c', 'protocol.allow=never', ...allowed, 'clone', '--quiet', '--', url, partial];
  const { exitCode, stderr } = await git.run(data, args, '', signal);
  if (exitCode !== 0) throw new AdapterError('GIT_CLONE_FAILED', `cannot clone ${url}: ${reasonIn(stderr)}`);
  renameSync(partial, target);
  return target;
}
