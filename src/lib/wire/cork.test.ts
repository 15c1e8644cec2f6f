import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { corkForTurn, endCorked } from './cork.ts';

let answer: (response: ServerResponse) => void;
const server = createServer((_, response) => answer(response));
afterEach(() => server.close());

async function received(): Promise<string> {
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
  return (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)).text();
}

test('pieces that are written just before the end arrive, in order', async () => {
  answer = (response) => {
    response.flushHeaders();
    for (const piece of ['a', 'b', 'c']) {
      corkForTurn(response);
      response.write(piece);
    }
    endCorked(response, 'd');
  };
  expect(await received()).toBe('abcd');
});

test('a piece arrives although nothing is written after it', async () => {
  answer = (response) => {
    response.flushHeaders();
    corkForTurn(response);
    response.write('a');
    setTimeout(() => endCorked(response), 0);
  };
  expect(await received()).toBe('a');
});

test('a piece that fills the buffer is followed by a drain', async () => {
  const piece = 'x'.repeat(100_000);
  answer = async (response) => {
    response.flushHeaders();
    for (let count = 0; count < 3; count += 1) {
      corkForTurn(response);
      if (!response.write(piece)) await once(response, 'drain');
    }
    endCorked(response);
  };
  expect(await received()).toBe(piece.repeat(3));
});

test('small pieces pass a unix socket that takes a part of what was corked', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-cork-'));
  const pieces = Array.from({ length: 4000 }, (_, count) => `${count} ${'x'.repeat(200)}\n`);
  answer = async (response) => {
    response.flushHeaders();
    for (const piece of pieces) {
      corkForTurn(response);
      if (!response.write(piece)) await once(response, 'drain');
    }
    endCorked(response);
  };
  const socketPath = join(folder, 'socket');
  await once(server.listen(socketPath), 'listening');
  const [response] = (await once(get({ socketPath }), 'response')) as [IncomingMessage];
  expect(await text(response)).toBe(pieces.join(''));
  rmSync(folder, { recursive: true });
});
