/** Frames of a client as input of a process: stdin, the size of the terminal, signals. */
import { z } from 'zod';
import type { Console, Process } from '../../../kernel/engine/engine.ts';
import { validated } from '../../../lib/schema/validated.ts';
import type { FramedConnection } from '../../../lib/wire/framed-connection.ts';
import { decodeJson } from '../../../lib/wire/stream.ts';
import { execRequest } from '../api.ts';

const resizeFrame = execRequest.shape.terminal.unwrap();
const signalFrame = z.strictObject({
  name: z.enum([
    'SIGINT',
    'SIGTERM',
    'SIGHUP',
    'SIGQUIT',
    'SIGKILL',
    'SIGUSR1',
    'SIGUSR2',
    'SIGWINCH',
    'SIGCONT',
    'SIGTSTP',
  ]),
});

export function takeInput(
  connection: FramedConnection,
  console: Console | Process,
  signal: (name: NodeJS.Signals) => Promise<void>,
): void {
  console.stdin.on('error', () => {});
  console.stdin.on('drain', () => connection.deliver());
  connection.onFrame = (frame) => {
    if (frame.type === 'stdin') return input(console, frame.payload);
    if (frame.type === 'resize') {
      const { rows, columns } = validated(resizeFrame, decodeJson(frame), 'resize');
      void console.resize(rows, columns).catch(() => {});
    }
    if (frame.type === 'signal') void signal(validated(signalFrame, decodeJson(frame), 'signal').name).catch(() => {});
    return true;
  };
  connection.deliver();
}

function input(console: Console, payload: Buffer): boolean {
  if (payload.length > 0) return console.stdin.writableEnded || console.stdin.write(payload);
  console.stdin.end();
  return true;
}
