import type { ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { exitOf } from './exit.ts';

/** The two ends of a connection; the event loop reads from one what is written to the other. */
async function pair(): Promise<[Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const reading = connect((server.address() as { port: number }).port, '127.0.0.1');
  const [[writing]] = await Promise.all([once(server, 'connection'), once(reading, 'connect')]);
  server.close();
  return [reading, writing as Socket];
}

it('output that the command wrote before its end is read, even if the event loop is late', async () => {
  const [stdout, writing] = await pair();
  let output = '';
  stdout.on('data', (text) => {
    output += text;
  });
  const child = new EventEmitter() as ChildProcess;
  const exit = exitOf(child);
  // From here, timers run before anything is read.
  await new Promise(setImmediate);
  writing.write('text\n');
  child.emit('exit', 0, null);
  for (const end = performance.now() + 100; performance.now() < end; );
  expect(await exit).toEqual([0, null]);
  expect(output).toBe('text\n');
  writing.destroy();
});
