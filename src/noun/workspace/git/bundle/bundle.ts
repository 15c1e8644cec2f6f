/**
 * Brings the commits of an agent into the project's repository, under refs of their own: `refs/carrel/NAME/heads/BRANCH`.
 * They come as a bundle that git wrote inside the sandbox, so an agent controls every byte of it. It is unpacked and checked
 * in a separate folder first; a bundle that is refused leaves nothing in the repository.
 */
import { closeSync } from 'node:fs';
import { openRegular, readUpTo } from '../../../../lib/file/bounded-read.ts';
import { fromText } from '../../../../model/byte-path.ts';
import { Fault } from '../../../../model/fault.ts';
import type { Limits } from '../../../../model/limits.ts';
import { refFolder } from '../../../../model/name.ts';
import { type GitRunOptions, gitOutput, quoted, runGit } from '../git.ts';
import { commitOf, openProjectGit, type ProjectGit, withOwnerFolder } from '../project-git.ts';
import { type BundleHeader, maxHeaderBytes, parseBundleHeader, refused } from './bundle-header.ts';

export interface TakenRef {
  readonly ref: string;
  readonly commit: string;
  /** The subject of the commit, written by the agent. */
  readonly subject: string;
  /** The number of commits that no ref of the project has. */
  readonly ahead: number;
}

const maxTips = 1000;
const maxListed = 50_000;
/** Columns of a subject that are shown. */
const maxSubject = 500;

/** Runs in the workspace inside a sandbox; writes a bundle of everything that the tips lack to stdout. */
export function bundleCommand(tips: readonly string[]): string[] {
  const git = ['git', '-c', 'safe.directory=*', 'bundle', 'create', '--quiet', '-'];
  return [...git, '--ignore-missing', '--branches', 'HEAD', '--not', ...tips];
}

export function isEmptyBundle(stderr: string): boolean {
  return /Refusing to create empty bundle/i.test(stderr);
}

/** The tips of the project, the newest first; a missing tip only makes a bundle larger. Null: no repository. */
export async function projectTips(project: string): Promise<string[] | null> {
  const git = await openProjectGit(project);
  if (git === null) return null;
  const args = ['for-each-ref', '--sort=-creatordate', `--count=${maxTips}`, '--format=%(objectname)'];
  const refs = (await gitOutput(git, args)).toString().split('\n');
  const head = await commitOf(git, 'HEAD');
  return [...new Set([head ?? '', ...refs])].filter(Boolean);
}

/** What a bundle and its content may cost on the host: no more than the limits of its sandbox. */
export interface BundleBounds {
  /**
   * Size of the bundle. The pack that is made from it, with objects of the project that it builds on, may have twice as
   * much.
   */
  readonly diskBytes: number;
  /** Memory for one object. */
  readonly memoryBytes: number;
  /** Time for unpacking a small bundle; each MiB adds to it. */
  readonly cpuSeconds: number;
}

const most: BundleBounds = { diskBytes: 2 * 1024 ** 3, memoryBytes: 1024 ** 3, cpuSeconds: 20 };
/** The memory that git itself needs. */
const leastMemoryBytes = 64 * 1024 ** 2;

export function bundleBounds({ diskBytes, memoryBytes }: Pick<Limits, 'diskBytes' | 'memoryBytes'>): BundleBounds {
  return {
    diskBytes: Math.min(most.diskBytes, diskBytes),
    memoryBytes: Math.max(leastMemoryBytes, Math.min(most.memoryBytes, memoryBytes)),
    cpuSeconds: most.cpuSeconds,
  };
}

interface BundleInput {
  readonly project: string;
  /** The name of the sandbox. */
  readonly name: string;
  /** A private file. */
  readonly bundle: string;
  readonly bounds?: BundleBounds;
}

/** A bundle that is being imported. */
interface Import {
  readonly git: ProjectGit;
  readonly bundle: string;
  readonly header: BundleHeader;
  readonly bounds: BundleBounds;
}

export async function importBundle({ project, name, bundle, bounds = most }: BundleInput): Promise<TakenRef[]> {
  const git = await openProjectGit(project);
  if (git === null)
    throw new Fault('unsupported', `${project} has no git repository of its own`, {
      hint: 'Begin one there: git init',
    });
  const header = readHeader(bundle, git.oidLength, bounds.diskBytes);
  const wanted = targets(header, refFolder(name));
  const importing = { git, bundle, header, bounds };
  const taken = await withOwnerFolder(git, (folder) => examine(importing, wanted, folder));
  await unpack(importing, {});
  await makeRoom(git, refFolder(name), wanted);
  const input = wanted.map(({ ref, oid }) => `update ${ref} ${oid}\n`).join('');
  await gitOutput(git, ['update-ref', '--stdin', '-m', 'carrel: commits of an agent'], { input, code: 'conflict' });
  return taken;
}

/** The commit that was taken from a branch before; null: none. */
export async function takenRef(project: string, name: string, branch: string): Promise<TakenRef | null> {
  const git = await openProjectGit(project);
  if (git === null) return null;
  const ref = `${refFolder(name)}/heads/${branch}`;
  const oid = await commitOf(git, ref);
  return oid === null ? null : describe(git, { ref, oid }, {});
}

/** The newest commits of all refs of a project, including those of agents. */
export async function commitsOf(project: string): Promise<ReadonlySet<string>> {
  const git = await openProjectGit(project);
  if (git === null) return new Set();
  const listed = await gitOutput(git, ['rev-list', '--all', `--max-count=${maxListed}`]);
  return new Set(listed.toString().split('\n'));
}

function readHeader(bundle: string, oidLength: 40 | 64, maxBytes: number): BundleHeader {
  const { fd, stat } = openRegular(bundle)!;
  try {
    if (stat.size > maxBytes) throw refused(`it is larger than ${maxBytes} bytes`);
    return parseBundleHeader(readUpTo(fd, maxHeaderBytes + 1), oidLength);
  } finally {
    closeSync(fd);
  }
}

interface Target {
  readonly ref: string;
  readonly oid: string;
}

/** HEAD counts only if it is detached. */
function targets({ refs }: BundleHeader, folder: string): Target[] {
  const onBranch = new Set(refs.filter(({ branch }) => branch !== null).map(({ oid }) => oid));
  return refs
    .filter(({ branch, oid }) => branch !== null || !onBranch.has(oid))
    .map(({ branch, oid }) => ({ ref: branch === null ? `${folder}/HEAD` : `${folder}/heads/${branch}`, oid }));
}

/** Unpacks into a separate folder, with the project's objects as alternates, and checks everything there. */
async function examine(importing: Import, wanted: readonly Target[], folder: string): Promise<TakenRef[]> {
  const { git, bounds } = importing;
  const objects = (await gitOutput(git, ['rev-parse', '--git-path', 'objects'])).toString().replace(/\n$/, '');
  const env = {
    GIT_OBJECT_DIRECTORY: folder,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(fromText(objects)),
    GIT_ALLOC_LIMIT: String(bounds.memoryBytes),
  };
  await unpack(importing, env);
  await refuseUnlessCommits(git, wanted, env);
  await refuseIncomplete(git, wanted, env);
  const taken: TakenRef[] = [];
  for (const target of wanted) taken.push(await describe(git, target, env));
  return taken;
}

type Env = NonNullable<GitRunOptions['env']>;

const packFactor = 2;
/** Exit codes of a git that SIGXFSZ or SIGXCPU ended, or that was killed. */
const overLimit: readonly number[] = [128 + 25, 128 + 24, 128 + 9];

/** A fifth of the usual speed of git. */
const bytesPerSecond = 4 * 1024 ** 2;

/** Checks every object while it unpacks, which `git fetch` does not do for bundles. */
async function unpack({ git, bundle, header, bounds }: Import, env: Env): Promise<void> {
  const { lengthBytes } = header;
  const { fd, stat } = openRegular(bundle)!;
  try {
    // Moves the file offset to where git starts to read.
    readUpTo(fd, lengthBytes);
    // One thread, since each holds objects in memory.
    const args = ['-c', 'core.bigFileThreshold=16m', 'index-pack', '--stdin', '--fix-thin', '--strict', '--threads=1'];
    const { exitCode, stderr } = await runGit(git, args, {
      input: fd,
      env: { ...env, GIT_ALLOC_LIMIT: String(bounds.memoryBytes) },
      limits: {
        fileBytes: packFactor * bounds.diskBytes,
        cpuSeconds: bounds.cpuSeconds + stat.size / bytesPerSecond,
      },
    });
    if (overLimit.includes(exitCode)) throw refused('unpacked, it takes more space or time than its sandbox may have');
    if (exitCode !== 0) throw refused(complaint(stderr));
  } finally {
    closeSync(fd);
  }
}

async function refuseUnlessCommits(git: ProjectGit, wanted: readonly Target[], env: Env): Promise<void> {
  const input = wanted.map(({ oid }) => `${oid}\n`).join('');
  const found = await gitOutput(git, ['cat-file', '--batch-check=%(objecttype)'], { input, env });
  const types = found.toString().split('\n').slice(0, -1);
  if (types.length !== wanted.length || types.some((type) => type !== 'commit'))
    throw refused('one of its branches is not a commit');
}

/** Everything that a commit refers to must be present, up to what the project's refs have. */
async function refuseIncomplete(git: ProjectGit, wanted: readonly Target[], env: Env): Promise<void> {
  const input = wanted.map(({ oid }) => `${oid}\n`).join('');
  const args = ['rev-list', '--objects', '--quiet', '--stdin', '--not', '--all'];
  const { exitCode, stderr } = await runGit(git, args, { input, env });
  if (exitCode !== 0) throw refused(`it is not complete: ${complaint(stderr)}`);
}

async function describe(git: ProjectGit, { ref, oid }: Target, env: Env): Promise<TakenRef> {
  const args = ['rev-list', '--no-commit-header', '--max-count=1', `--format=%<(${maxSubject},trunc)%s`, oid];
  const subject = (await gitOutput(git, args, { env })).toString().trim();
  const own = ['--not', '--exclude=refs/carrel/*', '--all'];
  const ahead = Number((await gitOutput(git, ['rev-list', '--count', oid, ...own], { env })).toString());
  return { ref, commit: oid, subject, ahead };
}

/** Removes earlier refs that are in the way: a branch that is a folder by now, a HEAD that is on a branch again. */
async function makeRoom(git: ProjectGit, folder: string, wanted: readonly Target[]): Promise<void> {
  const listed = (await gitOutput(git, ['for-each-ref', '--format=%(refname)', folder])).toString();
  const coming = wanted.map(({ ref }) => ref);
  const stale = listed
    .split('\n')
    .filter((ref) => ref !== '' && !coming.includes(ref) && isInTheWay(ref, coming, folder));
  if (stale.length === 0) return;
  await gitOutput(git, ['update-ref', '--stdin'], { input: stale.map((ref) => `delete ${ref}\n`).join('') });
}

function isInTheWay(ref: string, coming: readonly string[], folder: string): boolean {
  return ref === `${folder}/HEAD` || coming.some((one) => one.startsWith(`${ref}/`) || ref.startsWith(`${one}/`));
}

/** The last error of git, with its explanation. */
function complaint(text: string): string {
  return text.trim().split('\n').slice(-2).join('; ').slice(0, 300);
}
