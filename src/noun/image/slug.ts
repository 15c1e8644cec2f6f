/** The name of a project's image: from its remote, or else from its folder. */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { Anchor } from '../../lib/file/anchor.ts';
import { isFault } from '../../model/fault.ts';
import { readSmall } from './context/small-file.ts';

const maxConfigBytes = 256 * 1024;
const maxSlug = 48;

/** Returns only lower case letters, digits and single hyphens, whatever the remote is called. */
export function slugOf(project: string, root: Anchor): string {
  const remote = remoteOf(root);
  const named = remote === null ? '' : slugOfRemote(remote);
  return named === '' ? withHash(clean(basename(project)) || 'project', project) : named;
}

/** For a project whose name is taken by another folder. */
export function withHash(slug: string, project: string): string {
  return `${slug}-${createHash('sha256').update(project).digest('hex').slice(0, 8)}`;
}

/** The last two names of its path: owner and repository. Accounts and passwords are in the part before. */
export function slugOfRemote(remote: string): string {
  const path = /^[a-z][a-z0-9+.-]*:\/\/[^/]*(\/.*)$/i.exec(remote)?.[1] ?? /^[^/]*:(.*)$/.exec(remote)?.[1] ?? remote;
  const names = path
    .replace(/[?#].*$/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/i, '')
    .split('/')
    .filter((name) => name !== '');
  return clean(names.slice(-2).join('-'));
}

function clean(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, maxSlug)
    .replace(/^-+|-+$/g, '');
}

/** The URL of `origin` or the first remote. Parsed as text, because git may run programs that the repository names. */
function remoteOf(root: Anchor): string | null {
  const config = readConfig(root);
  if (config === null) return null;
  const remotes = new Map<string, string>();
  let section: string | null = null;
  for (const line of config.split(/\r?\n/)) {
    const header = /^\s*\[(.*)\]\s*$/.exec(line)?.[1];
    if (header !== undefined) section = /^remote\s+"(.*)"$/i.exec(header)?.[1] ?? null;
    const url = /^\s*url\s*=\s*"?([^"]*?)"?\s*$/i.exec(line)?.[1];
    if (section !== null && url && !remotes.has(section)) remotes.set(section, url);
  }
  return remotes.get('origin') ?? [...remotes.values()][0] ?? null;
}

/** Null also for a project whose `.git` is elsewhere. */
function readConfig(root: Anchor): string | null {
  try {
    return readSmall(root, '.git/config', maxConfigBytes)?.toString('utf8') ?? null;
  } catch (error) {
    if (isFault(error)) return null;
    throw error;
  }
}
