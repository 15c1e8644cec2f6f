import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Connection } from './connection.ts';
import { Events } from './events.ts';

let folder: string;
let events: Events;
const requests: URL[] = [];
const answers: ServerResponse[] = [];
const server = createServer((request, response) => {
  requests.push(new URL(request.url!, 'http://engine'));
  answers.push(response.writeHead(200));
  response.flushHeaders();
});

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-events-'));
  await once(server.listen(join(folder, 'socket')), 'listening');
  events = new Events(new Connection(join(folder, 'socket')), 'here', async () => ['one', 'two']);
});

afterEach(async () => {
  await events.close();
  server.closeAllConnections();
  await once(server.close(), 'close');
  rmSync(folder, { recursive: true });
});

it('each new connection reports every sandbox, and requests events from shortly before it', async () => {
  const begun = Date.now();
  const hints: string[] = [];
  let look = () => {};
  events.listen((id) => {
    hints.push(id);
    look();
  });
  const heard = (count: number) =>
    new Promise<void>((resolve) => {
      look = () => void (hints.length === count && resolve());
      look();
    });
  await heard(2);
  answers[0]!.destroy();
  await heard(4);
  expect(hints).toEqual(['one', 'two', 'one', 'two']);
  for (const { searchParams } of requests) {
    const since = Number(searchParams.get('since')) * 1000;
    expect([since > begun - 5000, since < Date.now()]).toEqual([true, true]);
  }
});
