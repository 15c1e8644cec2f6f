/**
 * Asks git which names it ignores. With an index `git check-ignore` compares each name with every entry, so it runs
 * without one, and tracked paths are taken out afterwards. Its work tree is a private folder that holds only the rules:
 * git refuses names beyond a link, and the project may have a link where the agent has a folder.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BytePath, fromBytes, isText, toBytes, toText } from '../../../model/byte-path.ts';
import { readContent } from '../tree/content.ts';
import { type Git, gitFault, gitOutput, runGit, runGitSync } from './git.ts';
import { inReadFolder, openProjectGit, withReadFolder } from './project-git.ts';

export const maxRulesBytes = 1024 * 1024;

/** Names of folders end with a slash. `rules` are lines of a `.gitignore` at the top, besides those of the project. */
export async function checkIgnore(
  git: Git,
  names: readonly BytePath[],
  rules: readonly string[],
): Promise<Set<BytePath>> {
  const matched = await withReadFolder(git, (folder) => match(git, prepared(git, names, rules, folder)));
  return matched.size === 0 ? matched : withoutTracked(git, matched);
}

interface Prepared {
  readonly tree: string;
  readonly args: readonly string[];
  readonly input: Buffer;
  readonly env: Readonly<Record<string, string>>;
}

/** Writes the rules into a folder. */
function prepared(git: Git, names: readonly BytePath[], rules: readonly string[], folder: string): Prepared {
  const [tree, excludes] = [join(folder, 'tree'), join(folder, 'rules')];
  writeFileSync(excludes, rules.join('\n'), { mode: 0o644, encoding: 'latin1' });
  copyRules(git.cwd, names, tree);
  const args = ['-c', `core.excludesFile=${excludes}`, 'check-ignore', '--no-index', '-z', '--stdin'];
  return { tree, args, input: inputOf(names), env: { GIT_WORK_TREE: tree } };
}

/** A name after `./` is never taken for a pathspec such as `:!name`. */
function inputOf(names: readonly BytePath[]): Buffer {
  return toBytes(names.map((name) => `./${name}`).join('\0'));
}

/**
 * Returns which of these folders git ignores with everything in them. The call is synchronous, since a walk cannot
 * wait. The folders are made in the work tree: a name with a slash at its end would also match `out/*`, from which
 * `!out/kept` may be an exception. If git fails, no folder counts as ignored; tracked files are not considered.
 */
export function ignoredFolders(git: Git, folders: readonly BytePath[], rules: readonly string[]): Set<BytePath> {
  const { exitCode, stdout } = inReadFolder(git, (folder) => {
    const names = folders.map((name) => `${name}/`);
    const { tree, args, env } = prepared(git, names, rules, folder);
    for (const name of folders) mkdirSync(below(tree, name), { recursive: true, mode: 0o755 });
    return runGitSync({ ...git, cwd: tree }, args, { input: inputOf(folders), env });
  });
  return new Set(exitCode === 0 ? namesIn(stdout).map((name) => name.slice('./'.length)) : []);
}

/** Whether the index may have something in this folder. */
export function areTracked(git: Git, folder: BytePath): boolean {
  if (isNowhereIn(readIndex(git), folder)) return false;
  // An argument of git has to be text.
  if (!isText(folder)) return true;
  const env = { GIT_WORK_TREE: git.cwd, GIT_LITERAL_PATHSPECS: '1' };
  const { exitCode, stdout } = runGitSync(git, ['ls-files', '--cached', '-z', '--', toText(folder)], { env });
  return exitCode !== 0 || stdout.length > 0;
}

const maxIndexBytes = 64 * 1024 ** 2;

/** Null: it is not where it usually is, too large, or reached by a link. */
function readIndex(git: Git): Buffer | null {
  return readContent({ at: 'tree', root: git.cwd }, '.git/index', maxIndexBytes);
}

/**
 * True: the index certainly has no path below this folder: versions 2 and 3 have all paths in full, except for those of
 * another file (extension `link`) and of folders that are not checked out (`sdir`). Reading it is quicker than starting
 * git.
 */
function isNowhereIn(index: Buffer | null, folder: BytePath): boolean {
  if (index === null || index.length < 12 || index.toString('latin1', 0, 4) !== 'DIRC') return false;
  if (![2, 3].includes(index.readUInt32BE(4))) return false;
  return ![`${folder}/`, 'link', 'sdir'].some((part) => index.includes(part, 12, 'latin1'));
}

/** A repository that git cannot read ignores nothing. */
async function match(git: Git, { tree, args, input, env }: Prepared): Promise<Set<BytePath>> {
  const { exitCode, stdout, stderr } = await runGit({ ...git, cwd: tree }, args, { input, env });
  if (exitCode > 1 && (await openProjectGit(git.cwd)) === null) return new Set();
  if (exitCode > 1) throw gitFault(args.slice(2), stderr);
  return new Set(namesIn(stdout).map((name) => name.slice('./'.length)));
}

/** Copies the `.gitignore` at the top and those of the named folders. */
function copyRules(project: string, names: readonly BytePath[], tree: string): void {
  mkdirSync(tree, { mode: 0o755 });
  for (const folder of ['', ...names.filter((name) => name.endsWith('/'))]) {
    const path = `${folder}.gitignore`;
    // Most folders have none, and this look is cheaper than opening every folder above.
    const text = existsSync(below(project, path))
      ? readContent({ at: 'tree', root: project }, path, maxRulesBytes)
      : null;
    if (text === null) continue;
    mkdirSync(below(tree, folder), { recursive: true, mode: 0o755 });
    writeFileSync(below(tree, path), text, { mode: 0o644 });
  }
}

function below(folder: string, path: BytePath): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), toBytes(path)]);
}

async function withoutTracked(git: Git, matched: Set<BytePath>): Promise<Set<BytePath>> {
  const listed = await gitOutput(git, ['ls-files', '--cached', '-z'], { env: { GIT_WORK_TREE: git.cwd } });
  const folders = new Set<BytePath>();
  for (const path of namesIn(listed)) {
    matched.delete(path);
    folders.add(path.slice(0, path.lastIndexOf('/') + 1));
  }
  for (const folder of [...folders].flatMap(foldersAbove)) {
    matched.delete(folder);
    matched.delete(folder.slice(0, -1));
  }
  return matched;
}

function namesIn(output: Buffer): BytePath[] {
  return fromBytes(output).split('\0').slice(0, -1);
}

/** Each with a slash at its end. */
export function foldersAbove(path: BytePath): BytePath[] {
  const found: BytePath[] = [];
  for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) found.push(path.slice(0, end + 1));
  return found;
}
