/** Long texts on a terminal go through the program that the person pages with. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { consequences } from '../../model/fault.ts';
import { catchSignals } from '../signals.ts';

/** Where text for a terminal goes. */
export interface Screen {
  readonly sink: Writable;
  /** Waits until everything was read; ends with the exit code. */
  close(): Promise<number>;
}

type Argv = readonly [string, ...string[]];

/** The pager as argv; null: no pager. Words are split at spaces, and nothing else in them means anything. */
export function pagerArgv(env: NodeJS.ProcessEnv): Argv | null {
  const simple = !env.TERM || env.TERM === 'dumb';
  const [file, ...args] = (env.PAGER ?? (simple ? '' : 'less -FRX')).split(/\s+/).filter((word) => word !== '');
  return file === undefined || file === 'cat' ? null : [file, ...args];
}

/** The pager, or the terminal itself where there is none. `leave` is called when the reader quits the pager. */
export function openScreen(leave: () => void, env: NodeJS.ProcessEnv = process.env): Screen {
  const argv = pagerArgv(env);
  return (argv && openPager(argv, leave, env)) ?? { sink: process.stdout, close: async () => 0 };
}

function openPager([file, ...args]: Argv, leave: () => void, env: NodeJS.ProcessEnv): Screen | null {
  // The usual pagers show colours, and leave what fits on one screen there, when these are set.
  const child = spawn(file, args, { stdio: ['pipe', 'inherit', 'inherit'], env: { LESS: 'FRX', LV: '-c', ...env } });
  child.on('error', () => {});
  if (child.pid === undefined) return null;
  const ended = once(child, 'close').then(leave);
  let interrupted = false;
  // Ctrl-C reaches the pager too, which may well go on: it has the terminal until it ends by itself.
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
    return interrupted ? consequences.cancelled.exit : 0;
  };
  return { sink: child.stdin, close };
}
