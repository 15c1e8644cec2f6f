/** The user's terminal while a command inside uses it. */
import { spawnSync } from 'node:child_process';
import type { Writable } from 'node:stream';
import { encodeJson } from '../../lib/wire/stream.ts';
import type { TerminalSize } from '../../model/engine.ts';

export function terminalSize(): TerminalSize {
  const { rows, columns } = process.stdout;
  return { rows: rows || 24, columns: columns || 80 };
}

/** Sets the terminal to raw keys until the returned function is called. The exit of the process restores it too. */
export function rawKeys(): () => void {
  if (!process.stdin.isTTY) return () => {};
  const restore = () => process.stdin.setRawMode(false);
  process.stdin.setRawMode(true);
  // Node's raw mode still turns each line feed into two characters, which garbles full-screen programs. Without stty
  // they look worse, ignoring.
  spawnSync('stty', ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] });
  process.once('exit', restore);
  return () => {
    process.off('exit', restore);
    restore();
  };
}

export function sendSize(socket: Writable): void {
  if (!socket.destroyed) socket.write(encodeJson('resize', terminalSize()));
}

/** Sends the size of the terminal whenever it changes. */
export function followSize(socket: Writable): () => void {
  const send = () => sendSize(socket);
  process.stdout.on('resize', send);
  return () => process.stdout.off('resize', send);
}
