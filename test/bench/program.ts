/** Runs a program by argv and times it. */
import { spawn } from 'node:child_process';
import { findProgram } from '../../src/kernel/engine/local/runtime/runtime.ts';
import { run } from '../../src/lib/process/run.ts';
import type { Timing } from './sample.ts';

const timeoutMs = 30_000;

/** The program must print something and exit with 0. */
export function timeProgram(argv: readonly string[]): Promise<Timing> {
  const [file, ...args] = argv;
  return new Promise((resolve, reject) => {
    let firstMs: number | null = null;
    let stderr = '';
    const from = performance.now();
    const child = spawn(file!, args, { stdio: 'pipe', timeout: timeoutMs, killSignal: 'SIGKILL' });
    // Stdin is never /dev/null: crun would change its owner to the sandbox's.
    child.stdin.end();
    child.stdout.on('data', () => {
      firstMs ??= performance.now() - from;
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString('utf8');
    });
    child.on('error', reject);
    child.on('close', (code, death) => {
      const wholeMs = performance.now() - from;
      if (code === 0 && firstMs !== null) resolve({ firstMs, wholeMs });
      else reject(new Error(`${named(argv)} ended with ${death ?? code}: ${stderr.trim()}`));
    });
  });
}

/** Returns the output; throws if the program fails. */
export async function output(argv: readonly [string, ...string[]], withinMs = timeoutMs): Promise<string> {
  const { exitCode, stdout, stderr } = await run(argv, withinMs);
  if (exitCode !== 0) throw new Error(`${named(argv)} exited with ${exitCode}: ${stderr.trim()}`);
  return stdout.trim();
}

/** The command line, with scripts replaced by an ellipsis. */
function named(argv: readonly string[]): string {
  return argv.map((word) => (word.includes('\n') ? '…' : word)).join(' ');
}

export function isInstalled(name: string): boolean {
  return findProgram(name) !== null;
}
