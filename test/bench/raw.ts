/** The bench's side of `raw-inside.ts`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { namespaceArgs } from '../../src/lib/sys/namespace.ts';
import type { Cleanup } from './cleanup.ts';
import type { RawAnswer, RawOrder } from './raw-inside.ts';
import type { Measure, Timing } from './sample.ts';

export interface Raw {
  /** The name of the runtime: `crun`, or what this machine has instead. */
  readonly name: string;
  readonly run: Measure;
  readonly exec: Measure;
}

/** The argv of a compiled file of the bench, in namespaces like the daemon's. */
export function insideArgv(file: string, ...args: readonly string[]): [string, ...string[]] {
  const compiled = resolve('dist/bench/test/bench', file);
  return [...namespaceArgs(process.getuid?.() ?? 0), process.execPath, compiled, ...args];
}

/**
 * Makes a link to `dist` two folders above the compiled bench, where parts that mount files of the build look for it.
 */
function showBuild(): void {
  const link = resolve('dist/bench/dist');
  if (!existsSync(link)) symlinkSync('..', link);
}

export async function openRaw(cleanup: Cleanup): Promise<Raw> {
  showBuild();
  const [file, ...args] = insideArgv('raw-inside.js', mkdtempSync(join(tmpdir(), 'carrel-bench-')));
  const child = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  cleanup.add('the bare runtime', () => end(child));
  const first = await answerOf(child);
  if (!('runtime' in first)) throw new Error('the bare runtime did not introduce itself');
  return { name: first.runtime, run: () => ask(child, 'run'), exec: () => ask(child, 'exec') };
}

async function ask(child: ChildProcess, order: RawOrder): Promise<Timing> {
  const answer = answerOf(child);
  child.send(order);
  const said = await answer;
  if ('timing' in said) return said.timing;
  throw new Error('error' in said ? said.error : 'the bare runtime gave no time');
}

function answerOf(child: ChildProcess): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const onExit = () => reject(new Error('the process of the bare runtime ended'));
    child.once('exit', onExit);
    child.once('message', (answer) => {
      child.off('exit', onExit);
      resolve(answer as RawAnswer);
    });
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.disconnect();
  const [code] = await exited;
  if (code !== 0) throw new Error(`its process exited with ${code}`);
}
