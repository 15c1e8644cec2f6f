/** The servers of `network.ts`, as a process of its own: it prints their ports, and ends when its input ends. */
import { once } from 'node:events';
import { createServer as createPlain, type RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { TestAuthority } from '../fixtures/service.ts';

const [name, address] = process.argv.slice(2) as [string, string];
const chunk = Buffer.alloc(256 * 1024, 'x');
/** The number of events in a stream, and the time between them. */
const [eventCount, everyMs] = [10, 100];

const answer: RequestListener = (request, response) => {
  const [, what, size] = request.url!.split('/');
  if (what === 'bytes') {
    let left = Number(size);
    const more = () => {
      while (left > 0) {
        left -= chunk.length;
        if (!response.write(chunk)) return;
      }
      response.end();
    };
    response.on('drain', more);
    more();
  } else if (what === 'events') {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    let sent = 0;
    const timer = setInterval(() => {
      sent += 1;
      response.write(`data: ${sent < eventCount ? sent : 'last'}\n\n`);
      if (sent === eventCount) clearInterval(timer);
    }, everyMs);
    response.on('close', () => clearInterval(timer));
    response.write('data: first\n\n');
  } else if (what === 'sink') {
    request.on('end', () => response.end('small')).resume();
  } else response.end('small');
};

const servers = [createServer(new TestAuthority(name).tls(name), answer), createPlain(answer)];
for (const server of servers) await once(server.listen(0, address), 'listening');
process.stdout.write(`${JSON.stringify(servers.map((server) => (server.address() as AddressInfo).port))}\n`);
process.stdin.on('end', () => process.exit(0)).resume();
