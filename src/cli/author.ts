import type { Client } from '../api/client.ts';
import type { ApplyRequest } from '../api/routes.ts';
import { run } from '../lib/run.ts';

const patienceMs = 5000;

type Author = NonNullable<ApplyRequest['author']>;

/** Who git would say commits in the sandbox's project; null where git does not know. */
export async function ownerOf(client: Client, sandbox: string): Promise<Author | null> {
  const { project } = await client.call('showSandbox', { path: { name: sandbox } });
  return project === null ? null : authorIn(project);
}

/** Who git would say commits in that folder; null where git does not know. */
export async function authorIn(project: string): Promise<Author | null> {
  const name = process.env.GIT_AUTHOR_NAME || (await setting(project, 'user.name'));
  const email = process.env.GIT_AUTHOR_EMAIL || (await setting(project, 'user.email'));
  return name && email ? { name, email } : null;
}

async function setting(project: string, key: string): Promise<string> {
  try {
    const { exitCode, stdout } = await run(['git', '-C', project, 'config', '--get', key], patienceMs);
    return exitCode === 0 ? stdout.trim() : '';
  } catch {
    // The commit gets an author of the daemon's choice, ignoring.
    return '';
  }
}
