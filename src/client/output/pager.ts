/** Long texts on a terminal are shown by the user's pager. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { faultTable } from '../../model/fault.ts';
import { catchSignals } from '../signals.ts';

/** Where text for a terminal goes. */
export interface TextScreen {
  readonly sink: Writable;
  /** Waits until the pager ends; resolves to the exit code. */
  close(): Promise<number>;
}

type Argv = readonly [string, ...string[]];

/** The pager as argv; null: no pager. $PAGER is split at spaces and not passed to a shell. */
export function pagerArgv(env: NodeJS.ProcessEnv): Argv | null {
  const simple = !env.TERM || env.TERM === 'dumb';
  const [file, ...args] = (env.PAGER ?? (simple ? '' : 'less -FRX')).split(/\s+/).filter((word) => word !== '');
  return file === undefined || file === 'cat' ? null : [file, ...args];
}

/** Opens the pager, or the terminal itself without a pager. `leave` is called when the user quits the pager. */
export function openScreen(leave: () => void, env: NodeJS.ProcessEnv = process.env): TextScreen {
  const argv = pagerArgv(env);
  return (argv && openPager(argv, leave, env)) ?? { sink: process.stdout, close: async () => 0 };
}

function openPager([file, ...args]: Argv, leave: () => void, env: NodeJS.ProcessEnv): TextScreen | null {
  // With these variables less and lv show colours, and less exits at once if the text fits on one screen.
  const child = spawn(file, args, { stdio: ['pipe', 'inherit', 'inherit'], env: { LESS: 'FRX', LV: '-c', ...env } });
  child.on('error', () => {});
  if (child.pid === undefined) return null;
  const ended = once(child, 'close').then(leave);
  let interrupted = false;
  // The terminal sends Ctrl-C to the pager too, which may go on after it: this command waits for the pager's own end.
  const release = catchSignals((signal) => {
    interrupted ||= !child.stdin.writableEnded;
    leave();
    if (signal !== 'SIGINT') child.kill(signal);
  });
  child.stdin.on('error', leave);
  const close = async () => {
    child.stdin.end();
    await ended;
    release();
    return interrupted ? faultTable.cancelled.exit : 0;
  };
  return { sink: child.stdin, close };
}
