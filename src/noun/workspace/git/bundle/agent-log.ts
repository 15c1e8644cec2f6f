/** The commits of an agent that were fetched into the project's repository and that no ref of the project has. */
import { refFolder } from '../../../../model/name.ts';
import { gitOutput } from '../git.ts';
import { openProjectGit } from '../project-git.ts';

export interface AgentCommit {
  readonly commit: string;
  readonly author: string;
  readonly at: string;
  /** Written by the agent. */
  readonly subject: string;
  /** The refs whose tip it is. */
  readonly refs: readonly string[];
}

/** The newest first. */
export async function agentLog(project: string, sandbox: string, limit: number): Promise<AgentCommit[]> {
  const git = await openProjectGit(project);
  if (git === null) return [];
  const folder = refFolder(sandbox);
  const tips = tipsIn(folder, await gitOutput(git, ['for-each-ref', '--format=%(objectname) %(refname)', folder]));
  if (tips.size === 0) return [];
  const args = ['log', '-z', `--max-count=${limit}`, '--format=%H%n%an%n%aI%n%s', ...tips.keys()];
  const text = (await gitOutput(git, [...args, '--not', '--exclude=refs/carrel/*', '--all'])).toString();
  return text
    .split('\0')
    .filter(Boolean)
    .map((record) => {
      const [commit = '', author = '', at = '', subject = ''] = record.split('\n');
      return { commit, author, at, subject, refs: tips.get(commit) ?? [] };
    });
}

function tipsIn(folder: string, listed: Buffer): Map<string, string[]> {
  const tips = new Map<string, string[]>();
  for (const line of listed.toString().split('\n').filter(Boolean)) {
    const [commit = '', ref = ''] = line.split(' ');
    if (ref.startsWith(`${folder}/`)) tips.set(commit, [...(tips.get(commit) ?? []), ref]);
  }
  return tips;
}
