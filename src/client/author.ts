import { run } from '../lib/process/run.ts';
import type { Author } from '../model/author.ts';
import { authorPattern } from '../model/author.ts';
import type { Client } from './client.ts';

const patienceMs = 5000;

/** The author that git uses for commits in the sandbox's project; null: git has none configured. */
export async function ownerOf(client: Client, sandbox: string): Promise<Author | null> {
  const { project } = await client.call('GET /v1/sandboxes/{name}', { path: { name: sandbox } });
  return project === null ? null : authorIn(project);
}

/** The author that git uses for commits in that folder; null: git has none configured. */
export async function authorIn(project: string): Promise<Author | null> {
  const { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email } = process.env;
  const found =
    name && email
      ? { name, email }
      : { ...(await settings(project)), ...(name ? { name } : {}), ...(email ? { email } : {}) };
  return isWhole(found) ? found : null;
}

/** One git process reads both settings, because a command that starts a sandbox has little time. */
async function settings(project: string): Promise<Partial<Author>> {
  try {
    const { stdout } = await run(
      ['git', '-C', project, 'config', '--null', '--get-regexp', '^user\\.(name|email)$'],
      patienceMs,
    );
    return parseSettings(stdout);
  } catch {
    // The commit gets an author of the daemon's choice, ignoring.
    return {};
  }
}

/** If a setting has several values, the last one counts, as in git. */
export function parseSettings(text: string): Partial<Author> {
  const found: { name?: string; email?: string } = {};
  for (const entry of text.split('\0')) {
    const at = entry.indexOf('\n');
    const key = entry.slice(0, at).toLowerCase();
    if (key === 'user.name') found.name = entry.slice(at + 1).trim();
    if (key === 'user.email') found.email = entry.slice(at + 1).trim();
  }
  return found;
}

/** Whether both texts are valid in a commit. */
function isWhole(settings: Partial<Author>): settings is Author {
  return [settings.name, settings.email].every((text) => text !== undefined && authorPattern.test(text));
}
