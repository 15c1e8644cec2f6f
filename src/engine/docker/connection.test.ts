import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Connection } from './connection.ts';

let folder: string;
let answer: { status: number; body: object };
let connection: Connection;
const server = createServer((_, response) => {
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
});

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-connection-'));
  connection = new Connection(join(folder, 'socket'));
  await once(server.listen(join(folder, 'socket')), 'listening');
});

afterEach(async () => {
  server.closeAllConnections();
  await once(server.close(), 'close');
  rmSync(folder, { recursive: true });
});

describe('find', () => {
  const inspect = () => connection.find((docker) => docker.getContainer('one').inspect());

  it('is what the engine answers', async () => {
    answer = { status: 200, body: { Id: 'one' } };
    expect(await inspect()).toEqual({ Id: 'one' });
  });

  it.each([
    ['has none', { status: 404, body: { message: 'No such container: one' } }],
    ['lost it while it looked', { status: 500, body: { cause: 'no such container', message: 'one does not exist' } }],
  ])('is null when the engine %s', async (_, given) => {
    answer = given;
    expect(await inspect()).toBeNull();
  });

  it('is no answer when the engine is in trouble', async () => {
    answer = { status: 500, body: { cause: 'database is locked', message: 'inspecting one: database is locked' } };
    await expect(inspect()).rejects.toMatchObject({ code: 'unavailable' });
  });
});
