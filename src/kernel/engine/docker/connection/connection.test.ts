import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect as describeObject } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Connection } from './connection.ts';

let folder: string;
let answer: { status: number; body: object | null };
let connection: Connection;
/** A fake engine. Without a body it closes the connection after the head of its answer. */
const server = createServer((_, response) => {
  response.writeHead(answer.status, { 'content-type': 'application/json' }).flushHeaders();
  if (answer.body) response.end(JSON.stringify(answer.body));
  else response.destroy();
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

  it('returns the engine’s answer', async () => {
    answer = { status: 200, body: { Id: 'one' } };
    expect(await inspect()).toEqual({ Id: 'one' });
  });

  it.each([
    ['has no such container', { status: 404, body: { message: 'No such container: one' } }],
    [
      'loses the container during the request',
      { status: 500, body: { cause: 'no such container', message: 'one does not exist' } },
    ],
  ])('returns null when the engine %s', async (_, given) => {
    answer = given;
    expect(await inspect()).toBeNull();
  });

  it('throws when the engine fails', async () => {
    answer = { status: 500, body: { cause: 'database is locked', message: 'inspecting one: database is locked' } };
    await expect(inspect()).rejects.toMatchObject({ code: 'unavailable' });
  });
});

it('the agent of a request is described by its class name, as the client library describes all requests', async () => {
  answer = { status: 200, body: { Id: 'one' } };
  const described = connection.ask(async (docker) => {
    const pending = docker.getContainer('one').inspect();
    const { agent } = docker.modem as unknown as { readonly agent: object };
    const text = describeObject(agent, { showHidden: true, depth: null });
    await pending;
    return text;
  });
  expect(await described).toBe('EngineAgent');
});

it.each([400, 500])("an error of the OCI runtime is reported with the engine's message: status %i", async (status) => {
  const message = 'failed to create shim task: OCI runtime create failed: no such cgroup: unknown';
  answer = { status, body: { message } };
  await expect(connection.ask((docker) => docker.getContainer('one').start())).rejects.toMatchObject({
    code: 'unavailable',
    message: `the Docker Engine says: ${message}`,
  });
});

describe('an answer that ends early', () => {
  it('is an error of the request, without waiting for the time-out', async () => {
    answer = { status: 200, body: null };
    const fault = { code: 'unavailable', message: expect.stringContaining('was lost') };
    await expect(connection.ask((docker) => docker.getContainer('one').inspect())).rejects.toMatchObject(fault);
    await expect(connection.wait((docker) => docker.getContainer('one').wait())).rejects.toMatchObject(fault);
  });
});

it('a request leaves no open connection', async () => {
  answer = { status: 200, body: {} };
  const [[request]] = await Promise.all([
    once(server, 'request') as Promise<[IncomingMessage]>,
    connection.ask((docker) => docker.info()),
  ]);
  expect(request.headers.connection).toBe('close');
});
