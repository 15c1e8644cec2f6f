/**
 * Copies a folder with everything in it: owners, modes, times, hard links, holes, devices, and the marks that the kernel keeps
 * on the layers of an overlay. Blocks are shared if the filesystem can. The caller makes sure that nothing changes the source.
 */
import { readdirSync } from 'node:fs';
import { Anchor } from '../../../lib/file/anchor.ts';
import { run } from '../../../lib/process/run.ts';
import type { BytePath } from '../../../model/byte-path.ts';
import { toBytes } from '../../../model/byte-path.ts';
import { Fault, spaceHint } from '../../../model/fault.ts';

/** An agent may have made millions of files. */
const copyMs = 3_600_000;

export async function copyFolder(source: string, target: string): Promise<void> {
  if (await copyReachable(['-T', '--', source, target])) return;
  const [from, to] = [Anchor.reach(source), Anchor.reach(target)];
  try {
    await copyDeep(from, to);
  } finally {
    from.close();
    to.close();
  }
}

/**
 * A mark that cannot be copied is an error: without it deleted files reappear. The messages are in English, since they
 * are parsed.
 */
const cp = ['env', 'LC_ALL=C', 'cp', '-a', '--preserve=xattr', '--reflink=auto', '--sparse=always'] as const;

/** False: a path in it is longer than the kernel accepts. */
async function copyReachable(args: readonly string[]): Promise<boolean> {
  const { exitCode, stderr } = await run([...cp, '--one-file-system', ...args], copyMs);
  if (exitCode === 0) return true;
  const lines = stderr.trim().split('\n');
  const other = lines.find((line) => !line.endsWith('File name too long'));
  if (other === undefined) return false;
  const full = lines.find((line) => /No space left|quota exceeded/.test(line));
  if (full) throw new Fault('exhausted', `cannot copy: ${full}`, { hint: spaceHint });
  throw new Fault('internal', `cannot copy: ${other}`);
}

/** Less than half of the longest path, so that a copy that starts there gets further. */
const pieceBytes = 1800;

/** Continues from open folders half-way down. Files that are linked across such a border become two. */
async function copyDeep(source: Anchor, target: Anchor): Promise<void> {
  for (const path of foldersPast(source)) {
    const [from, to] = [source.enter(toBytes(path)), target.enter(toBytes(path))];
    try {
      await run(['find', `${to.path}/`, '-mindepth', '1', '-delete'], copyMs);
      if (!(await copyReachable(['--', `${from.path}/.`, `${to.path}/`]))) await copyDeep(from, to);
    } finally {
      from.close();
      to.close();
    }
  }
}

/** The outermost folders whose path is longer than one piece. */
function* foldersPast(source: Anchor): Generator<BytePath> {
  const waiting: BytePath[] = [''];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (path.length > pieceBytes) yield path;
    else for (const name of subfolders(source, path)) waiting.push(path === '' ? name : `${path}/${name}`);
  }
}

function subfolders(source: Anchor, path: BytePath): BytePath[] {
  return readdirSync(source.at(toBytes(path)), { withFileTypes: true, encoding: 'latin1' })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
}
