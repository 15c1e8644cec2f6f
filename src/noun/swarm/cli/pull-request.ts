/**
 * Opens pull requests for what a swarm has completed. The user's own git and gh do it, with the user's rights, because
 * the daemon has none of these.
 */

import type { Context } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { run } from '../../../lib/process/run.ts';
import { asFault, Fault, isFault } from '../../../model/fault.ts';
import type { SwarmContainerView } from '../api.ts';

export async function requireGh(detach: boolean): Promise<void> {
  if (detach)
    throw new Fault('invalid', '--pr and --detach exclude each other: pull requests are opened at the end', {
      hint: 'Leave --detach out.',
    });
  await run(['gh', '--version']).catch((error: unknown) => {
    if (!isFault(error, 'unsupported')) throw error;
    throw new Fault('unsupported', 'gh is not installed', { hint: 'Install gh, or leave --pr out.' });
  });
}

/** Resolves to the exit code. A pull request that cannot be opened does not prevent the others. */
export async function openPullRequests(
  context: Context,
  client: Client,
  project: string,
  completed: readonly SwarmContainerView[],
): Promise<number> {
  const due = completed.filter(({ prUrl, commits }) => prUrl === null && commits[0]);
  // gh uses the repository of the current folder.
  process.chdir(project);
  let code = 0;
  for (const container of due) {
    try {
      const prUrl = await openPullRequest(client, project, container);
      const body = { project, containerName: container.containerName, prUrl };
      await client.call('POST /v1/swarm/update', { body });
      if (!context.json) context.out.print(prUrl);
    } catch (error) {
      code ||= context.out.fail(asFault(error));
    }
  }
  return code;
}

async function openPullRequest(client: Client, project: string, container: SwarmContainerView): Promise<string> {
  const { branchName, commits, taskFilePath } = container;
  const { title, stories } = await client.call('GET /v1/tasks/file', { query: { file: `${project}/${taskFilePath}` } });
  const body = stories.map((story) => `- ${story.id}: ${story.title}`).join('\n');
  await succeed('git', 'push', '--quiet', 'origin', `${commits[0]!.ref}:refs/heads/${branchName}`);
  const stdout = await succeed('gh', 'pr', 'create', '--head', branchName, '--title', title, '--body', body);
  const url = stdout.split(/\s+/).find((word) => /^https:\/\//.test(word));
  if (url === undefined) throw new Fault('internal', `gh printed no URL of the pull request for ${branchName}`);
  return url;
}

async function succeed(...argv: [string, ...string[]]): Promise<string> {
  const { exitCode, stdout, stderr } = await run(argv);
  if (exitCode === 0) return stdout;
  const reason = stderr.trim().split('\n').at(-1) || `it ended with ${exitCode}`;
  throw new Fault('conflict', `${argv.slice(0, 2).join(' ')} failed: ${reason}`);
}
