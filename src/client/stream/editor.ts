/** Runs the editor of the user at the terminal. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run, spawnFault } from '../../lib/process/run.ts';
import { signalNumber } from '../../lib/process/signal.ts';
import { Fault } from '../../model/fault.ts';
import { catchSignals } from '../signals.ts';

const patienceMs = 5000;
const hint =
  'See: git var GIT_EDITOR. $GIT_EDITOR, core.editor of git, $VISUAL and $EDITOR choose the editor, in this order.';

/**
 * Resolves to the edited text; both texts are bytes in latin1. The temporary file is in a folder that only its owner
 * can read.
 */
export async function edited(name: string, text: string): Promise<string> {
  const editor = await editorOfGit();
  const folder = mkdtempSync(join(tmpdir(), 'carrel-edit-'));
  try {
    const path = join(folder, name);
    writeFileSync(path, text, { encoding: 'latin1', mode: 0o600 });
    await open(editor, path);
    return textAt(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function textAt(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch (cause) {
    throw new Fault('not_found', 'the editor removed the file that was to be edited', { cause });
  }
}

async function editorOfGit(): Promise<string> {
  const { exitCode, stdout, stderr } = await run(['git', 'var', 'GIT_EDITOR'], patienceMs);
  if (exitCode === 0) return stdout.trimEnd();
  throw new Fault('unsupported', `git knows no editor: ${stderr.trim().split('\n')[0]}`, { hint });
}

/** Runs the editor and waits for its end. Meanwhile Ctrl-C is for the editor. */
async function open(editor: string, path: string): Promise<void> {
  const restore = keepTerminal();
  // Git treats the name of an editor as shell text. No other text is run in a shell on the host (decision 78).
  const child = spawn('sh', ['-c', `${editor} "$@"`, editor, path], { stdio: [0, 2, 2] });
  let ended: NodeJS.Signals | null = null;
  const release = catchSignals((signal) => {
    if (signal === 'SIGINT') return;
    ended = signal;
    child.kill(signal);
  });
  const exitCode = await exitOf(child).finally(() => {
    release();
    restore();
  });
  if (ended !== null || exitCode === interrupted) throw new Fault('cancelled', 'the edit was cancelled');
  if (exitCode !== 0)
    throw new Fault('unsupported', `the editor '${editor}' ended with exit code ${exitCode}`, { hint });
}

const interrupted = 128 + signalNumber('SIGINT');

function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(spawnFault('sh', error)));
    child.on('exit', (code, signal) => resolve(code ?? 128 + signalNumber(signal ?? '')));
  });
}

/** Restores the terminal settings, which a killed editor leaves changed. Without stty they stay changed, ignoring. */
function keepTerminal(): () => void {
  const { stdout } = spawnSync('stty', ['-g'], { stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8' });
  return () => {
    if (stdout) spawnSync('stty', [stdout.trim()], { stdio: ['inherit', 'ignore', 'ignore'] });
  };
}
