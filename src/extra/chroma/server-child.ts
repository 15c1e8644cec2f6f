/** The program of the Chroma server as a child process. */
import { spawn } from 'node:child_process';
import { collect } from '../../lib/process/collect.ts';

export interface ServerChild {
  /** Resolves with the last line of its output; null: there was no output. */
  readonly ended: Promise<string | null>;
  kill(signal: NodeJS.Signals): void;
}

export interface ServerCommand {
  readonly program: string;
  readonly data: string;
  readonly port: number;
}

const maxOutput = 16 * 1024;

export function startServer({ program, data, port }: ServerCommand): ServerChild {
  const args = ['run', '--path', data, '--host', '127.0.0.1', '--port', String(port)];
  // The child has no capabilities, and the kernel kills it when the broker ends.
  const drop = ['--pdeathsig', 'KILL', '--no-new-privs', '--inh-caps=-all', '--bounding-set=-all', '--'];
  const child = spawn('setpriv', [...drop, process.execPath, program, ...args], {
    cwd: data,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, CHROMA_ANONYMIZED_TELEMETRY: 'false', ANONYMIZED_TELEMETRY: 'false' },
  });
  const [stdout, stderr] = [collect(child.stdout, maxOutput), collect(child.stderr, maxOutput)];
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('close', () => resolve());
  }).then(() => lastLine(`${stderr()}`) ?? lastLine(`${stdout()}`));
  return { ended, kill: (signal) => void child.kill(signal) };
}

/** The last line of the output, without colour codes. */
function lastLine(text: string): string | null {
  const lines = text.split('\n').map((line) => line.replace(/\x1b\[[0-9;]*m/g, '').trim());
  return (
    lines
      .filter((line) => line !== '' && !line.startsWith('Node.js'))
      .at(-1)
      ?.slice(0, 500) ?? null
  );
}
