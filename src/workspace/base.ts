/**
 * Bases that cannot move: a copy of the project, or a clone of its repository. Each is made under another name and then
 * renamed, so it is there whole or not at all, and making it again is harmless.
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { removeTree } from '../lib/file.ts';
import { run, spawnFault } from '../lib/run.ts';
import { Fault } from '../model/fault.ts';

/** Copying or cloning a large project takes its time. */
const makeMs = 3_600_000;

/** Shares blocks with the original where the filesystem can. */
export function copyTree(source: string, target: string): Promise<void> {
  return made(target, async (temporary) => {
    mkdirSync(temporary);
    const { exitCode, stderr } = await run(
      ['cp', '-a', '--reflink=auto', '--one-file-system', '--', `${source}/.`, temporary],
      makeMs,
    );
    if (exitCode !== 0) throw failure(`cannot copy ${source}`, stderr);
  });
}

/**
 * A repository of its own on a branch of its own, without anything uncommitted. It comes as a bundle, written by git as
 * the owner of the project and read by git as us: neither reaches into the other's folders.
 */
export function cloneRepository(project: string, target: string, branch: string): Promise<void> {
  return made(target, async (temporary) => {
    if (!existsSync(join(project, '.git'))) {
      throw new Fault('invalid', `${project} is not a git repository, so it cannot be cloned`, {
        hint: 'Use --mode overlay, or: git init',
      });
    }
    const bundle = `${temporary}.bundle`;
    try {
      await writeBundle(project, bundle);
      await git(null, ['clone', '--quiet', '--origin', 'project', '--', bundle, temporary]);
    } finally {
      rmSync(bundle, { force: true });
    }
    await git(null, ['-C', temporary, 'checkout', '--quiet', '-B', branch]);
    await git(null, ['-C', temporary, 'remote', 'set-url', 'project', '/.workspace']);
  });
}

async function writeBundle(project: string, path: string): Promise<void> {
  const output = openSync(path, 'wx', 0o600);
  try {
    const args = ['-C', project, 'bundle', 'create', '--quiet', '-', '--branches', '--tags', 'HEAD'];
    await git(statSync(project), args, output);
  } finally {
    closeSync(output);
  }
}

async function made(target: string, make: (temporary: string) => Promise<void>): Promise<void> {
  if (existsSync(target)) return;
  const temporary = `${target}.new`;
  mkdirSync(dirname(target), { recursive: true, mode: 0o711 });
  await removeTree(temporary);
  try {
    await make(temporary);
  } catch (error) {
    await removeTree(temporary);
    throw error;
  }
  renameSync(temporary, target);
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** As the owner of what it reads, since git refuses the repositories of others; null is ourselves. */
function git(owner: Owner | null, args: readonly string[], output: number | 'ignore' = 'ignore'): Promise<void> {
  const env = {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
  };
  const safe = ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', '-c', 'gc.auto=0'];
  const who = owner === null ? {} : { uid: owner.uid, gid: owner.gid };
  return new Promise((resolve, reject) => {
    const child = spawn('git', [...safe, ...args], { ...who, env, cwd: '/', stdio: ['ignore', output, 'pipe'] });
    let said = '';
    child.stderr!.on('data', (chunk: Buffer) => {
      said = `${said}${chunk.toString('utf8')}`.slice(-4096);
    });
    child.on('error', (error) => reject(spawnFault('git', error)));
    child.on('close', (code) => (code === 0 ? resolve() : reject(failure('the project cannot be cloned', said))));
  });
}

function failure(what: string, said: string): Fault {
  const last = said.trim().split('\n').at(-1) ?? '';
  return new Fault(/No space left/.test(said) ? 'exhausted' : 'invalid', `${what}: ${last}`);
}
