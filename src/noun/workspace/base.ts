/**
 * Bases that cannot change: a copy of the project, or a clone of its repository. Each is made under a temporary name, and
 * renamed when it is on disk, so it is complete or absent, and can be made again.
 */
import { createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Anchor, within } from '../../lib/file/anchor.ts';
import { isErrno, removeTree, syncFolder } from '../../lib/file/file.ts';
import { syncFilesystem } from '../../lib/sys/sys.ts';
import { Fault, spaceHint } from '../../model/fault.ts';
import { type Git, gitFault, runGit, startGit } from './git/git.ts';
import { type ProjectGit, withProjectGit } from './git/project-git.ts';
import { copyAll } from './tree/copy-tree.ts';

/** Copying or cloning a large project takes long. */
const timeoutMs = 3_600_000;

/** Blocks its thread until it is done. */
export function copyTree(source: string, target: string): Promise<void> {
  return made(target, async (temporary) => {
    mkdirSync(temporary, 0o700);
    copyAll(source, temporary);
  });
}

/**
 * A separate repository on a separate branch, without uncommitted changes. It is made from a bundle that git writes
 * with the account of the project's owner and reads with the daemon's: neither account enters the folders of the other.
 */
export function cloneRepository(project: string, target: string, branch: string): Promise<void> {
  return made(target, async (temporary) => {
    const bundle = `${temporary}.bundle`;
    try {
      await withProjectGit(project, (git) => writeBundle(git, project, bundle));
      await own(dirname(target), ['clone', '--quiet', '--origin', 'project', '--', bundle, temporary]);
    } finally {
      rmSync(bundle, { force: true });
    }
    await own(temporary, ['checkout', '--quiet', '-B', branch]);
    await own(temporary, ['remote', 'set-url', 'project', '/.workspace']);
  });
}

async function writeBundle(git: ProjectGit | null, project: string, path: string): Promise<void> {
  if (git === null)
    throw new Fault('invalid', `${project} is not a git repository, so it cannot be cloned`, {
      hint: 'Use --mode overlay, or: git init',
    });
  const args = ['bundle', 'create', '--quiet', '-', '--branches', '--tags', 'HEAD'];
  const child = startGit(git, args, { timeoutMs });
  child.stdin.end();
  const broken = await pipeline(child.stdout, createWriteStream(path, { flags: 'wx', mode: 0o600 })).then(
    () => null,
    (error: unknown) => ({ error }),
  );
  if (broken) child.kill();
  const { exitCode, stderr, fault } = await child.ended;
  if (broken) throw writeFault(broken.error);
  if (fault !== null) throw fault;
  if (exitCode !== 0) throw cloneFault(args, stderr);
}

/** Both the bundle and the repository are private. Git counts a bundle as a file transport. */
const readsFiles = { GIT_ALLOW_PROTOCOL: 'file' };
const settings = ['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'gc.auto=0'];

async function own(cwd: string, args: readonly string[]): Promise<void> {
  const git: Git = { cwd, args: settings.flatMap((setting) => ['-c', setting]), env: readsFiles };
  const { exitCode, stderr } = await runGit(git, args, { timeoutMs });
  if (exitCode !== 0) throw cloneFault(args, stderr);
}

function cloneFault(args: readonly string[], stderr: string): Fault {
  const code = /No space left|quota exceeded/.test(stderr) ? 'exhausted' : 'invalid';
  const cause = gitFault(args, stderr, code);
  return new Fault(code, `the project cannot be cloned: ${cause.message}`, { cause });
}

function writeFault(error: unknown): unknown {
  if (!isErrno(error, 'ENOSPC') && !isErrno(error, 'EDQUOT')) return error;
  return new Fault('exhausted', 'the project cannot be cloned: no space left', {
    cause: error,
    hint: spaceHint,
  });
}

async function made(target: string, make: (temporary: string) => Promise<void>): Promise<void> {
  if (existsSync(target)) return;
  const temporary = `${target}.new`;
  mkdirSync(dirname(target), { recursive: true, mode: 0o711 });
  await removeTree(temporary);
  try {
    await make(temporary);
    within(Anchor.open(temporary), ({ fd }) => syncFilesystem(fd));
  } catch (error) {
    await removeTree(temporary);
    throw error;
  }
  renameSync(temporary, target);
  syncFolder(dirname(target));
}
