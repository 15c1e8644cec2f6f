/**
 * The facts that decide, besides a change itself, whether the change could run a program: links and git settings of the
 * project.
 */
import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, relative, resolve } from 'node:path';
import { type BytePath, fromText, toBytes } from '../../../../model/byte-path.ts';
import { type Git, runGit, runGitSync } from '../../git/git.ts';
import type { Change } from '../../model/change.ts';
import { Folders } from '../../tree/folders.ts';
import { entryAt, look, unlessGone } from '../../tree/tree.ts';
import { LinkNames, type Names } from './link/link-names.ts';
import { type ProjectLinks, projectLinks } from './link/project-links.ts';

export interface GateContext {
  /** All plain names by which the project reaches a path, its own plain name first. */
  namesOf(plain: string): Names;
  /** The target of the link at a path; null: there is no link. */
  linkAt(path: BytePath): BytePath | null;
}

export const noGateContext: GateContext = { namesOf: (plain) => ({ names: [plain], whole: true }), linkAt: () => null };

type Changed = Pick<Change, 'path' | 'after'>;

/** The facts that are read from the project whatever the changes are. */
export interface GateFacts {
  readonly links: ProjectLinks;
  readonly named: readonly Named[];
}

/**
 * Reads the facts in parallel with other work: git starts at once, and the returned function reads the folders. Call
 * that function while another program runs anyway. Null: there is no project.
 */
export function beginGateFacts(project: string): () => Promise<GateFacts | null> {
  const folders = unlessGone(() => new Folders(project));
  if (folders === null) return async () => null;
  folders.close();
  const root = realpathSync(project);
  const listing = askSoon(root, settings);
  return async () => {
    const links = unlessGone(() => linksOf(project));
    const list = await listing;
    return links && { links, named: namedIn(root, list) };
  };
}

function linksOf(project: string): ProjectLinks {
  const folders = new Folders(project);
  try {
    return projectLinks(folders);
  } finally {
    folders.close();
  }
}

/** Calls `work` with the context of the project before these changes. A project that does not exist has no links. */
export function withGateContext<T>(
  project: string,
  changes: readonly Changed[],
  work: (gateContext: GateContext) => T,
  facts: GateFacts | null = null,
): T {
  const folders = changes.length === 0 ? null : unlessGone(() => new Folders(project));
  if (folders === null) return work(noGateContext);
  const linkAt = (path: BytePath) => {
    const location = folders.locate(path);
    const stat = location && look(location.folder, location.name);
    return location && stat?.isSymbolicLink() ? (entryAt(location.folder, location.name, stat)?.target ?? null) : null;
  };
  try {
    const names = namesIn(project, changes, facts ?? factsNow(project, folders));
    return work({ namesOf: (plain) => names.namesOf(plain), linkAt });
  } finally {
    folders.close();
  }
}

function factsNow(project: string, folders: Folders): GateFacts {
  const root = realpathSync(project);
  return { links: projectLinks(folders), named: namedIn(root, ask(root, settings)) };
}

function namesIn(project: string, changes: readonly Changed[], { links, named }: GateFacts): LinkNames {
  const root = realpathSync(project);
  const added = changes.flatMap(({ path, after }) =>
    after?.type === 'link' && after.target !== null ? [[path, after.target] as const] : [],
  );
  return new LinkNames({
    ...links,
    root: fromText(root),
    added: new Map(added),
    changed: new Set(changes.map(({ path }) => path)),
    named,
    outside,
  });
}

const maxAbove = 64;

/** The real path. If the path does not exist, its nearest existing folder is resolved. */
function outside(path: BytePath): BytePath | null {
  let [at, rest] = [path, ''];
  for (let above = 0; above < maxAbove && at !== '/'; above += 1) {
    try {
      return `${realpathSync.native(toBytes(at), 'latin1')}${rest}`;
    } catch {
      rest = `/${at.slice(at.lastIndexOf('/') + 1)}${rest}`;
      at = dirname(at);
    }
  }
  return null;
}

type Named = readonly [name: string, path: BytePath];

const obeyed: { readonly [key: string]: string } = {
  'core.hookspath': '.git/hooks',
  'core.attributesfile': '.git/info/attributes',
};
const keys = String.raw`^(core\.(hookspath|attributesfile)|include(if\..*)?\.path)$`;

const settings = ['config', '--includes', '--show-origin', '--type=path', '--null', '--get-regexp', keys];

/**
 * Paths that git settings name: the folder of hooks, the attributes file, and included files. The settings are those of
 * the repository that the project is or is in, and of its owner. Reading settings runs no program.
 */
function namedIn(project: string, list: string): Named[] {
  if (list === '') return [];
  const words = list.split('\0');
  const top = ask(project, ['rev-parse', '--show-toplevel']).trimEnd() || project;
  return Array.from({ length: Math.floor(words.length / 2) }, (_, n) => {
    const [key = '', path = ''] = splitOnce(words[2 * n + 1]!, '\n');
    const name = obeyed[key];
    // An included path is relative to the file that includes it.
    const from = name === undefined ? dirname(resolve(top, words[2 * n]!.replace(/^file:/, ''))) : top;
    return [name ?? '.git/config', fromText(relative(project, resolve(from, path)))] as const;
  });
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** Git with the account and the settings of the project's owner, since these may name a folder of hooks. */
function ownersGit(project: string): Git {
  const { uid, gid } = lstatSync(project);
  const env = { GIT_CONFIG_NOSYSTEM: undefined, GIT_CONFIG_GLOBAL: undefined, HOME: homeOf(uid) };
  return { cwd: project, args: [], env, ...(process.getuid?.() === 0 && uid !== 0 ? { uid, gid } : {}) };
}

function ask(project: string, args: readonly string[]): string {
  const { exitCode, stdout } = runGitSync(ownersGit(project), args);
  return exitCode === 0 ? stdout.toString() : '';
}

async function askSoon(project: string, args: readonly string[]): Promise<string> {
  const ran = await runGit(ownersGit(project), args, { timeoutMs: answerMs }).catch(() => null);
  return ran?.exitCode === 0 ? ran.stdout.toString() : '';
}

const answerMs = 10_000;

function homeOf(uid: number): string {
  if (uid === process.getuid?.()) return homedir();
  const accounts = unlessGone(() => readFileSync('/etc/passwd', 'utf8')) ?? '';
  const account = accounts.split('\n').find((line) => line.split(':')[2] === String(uid));
  return account?.split(':')[5] ?? '/';
}
