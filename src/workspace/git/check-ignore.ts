/**
 * Which names git ignores. With an index `git check-ignore` compares each name with every entry, so it runs without one, and
 * tracked paths are taken out afterwards. Its work tree is a private folder that holds only the rules: git refuses names beyond
 * a link, and the project may have a link where the agent has a folder.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BytePath, fromBytes, toBytes } from '../../model/byte-path.ts';
import { readContent } from '../tree/content.ts';
import { gitFault, gitOutput, runGit } from './git.ts';
import { type ProjectGit, withOwnerFolder } from './project-git.ts';

export const maxRulesBytes = 1024 * 1024;

/** Names of folders end with a slash. `rules` are lines of a `.gitignore` at the top, besides those of the project. */
export async function checkIgnore(
  git: ProjectGit,
  names: readonly BytePath[],
  rules: readonly string[],
): Promise<Set<BytePath>> {
  const matched = await withOwnerFolder(git, (folder) => {
    const [tree, excludes] = [join(folder, 'tree'), join(folder, 'rules')];
    writeFileSync(excludes, rules.join('\n'), { mode: 0o644, encoding: 'latin1' });
    copyRules(git.cwd, names, tree);
    return match(git, names, tree, excludes);
  });
  return matched.size === 0 ? matched : withoutTracked(git, matched);
}

/** A name after `./` is never taken for a pathspec such as `:!name`. */
async function match(git: ProjectGit, names: readonly BytePath[], tree: string, excludes: string) {
  const args = ['-c', `core.excludesFile=${excludes}`, 'check-ignore', '--no-index', '-z', '--stdin'];
  const { exitCode, stdout, stderr } = await runGit({ ...git, cwd: tree }, args, {
    input: toBytes(names.map((name) => `./${name}`).join('\0')),
    env: { GIT_WORK_TREE: tree },
  });
  if (exitCode > 1) throw gitFault(args.slice(2), stderr);
  return new Set(namesIn(stdout).map((name) => name.slice('./'.length)));
}

/** Those of the folders that are named. */
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

async function withoutTracked(git: ProjectGit, matched: Set<BytePath>): Promise<Set<BytePath>> {
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
