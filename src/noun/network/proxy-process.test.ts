import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { soon } from '../../../test/fixtures/soon.ts';
import { proxyFiles, readLines, type SentOrder, sendLine, socketIn } from './control.ts';
import { defaultNetworkLimits } from './model/network.ts';
import type { Attachment } from './network.ts';
import { ProxyProcess } from './proxy-process.ts';

let home: string;
let server: Server;
let received: SentOrder[];
let daemons: Socket[];
/** Orders at which the fake proxy closes the connection instead of answering. */
let deadly: SentOrder['verb'][];
let client: ProxyProcess;

/** Starts a fake proxy. Like the real one, it serves the newest connection only. */
async function listen(): Promise<void> {
  server = createServer((socket) => {
    for (const before of daemons.splice(0)) before.destroy();
    daemons.push(socket);
    socket.on('error', () => {});
    readLines(socket, (line) => {
      received.push(line as SentOrder);
      if (deadly.includes((line as SentOrder).verb)) socket.destroy();
      sendLine(socket, { serial: (line as SentOrder).serial });
    });
  });
  rmSync(join(home, 'network', proxyFiles.socket), { force: true });
  const place = socketIn(join(home, 'network'));
  server.listen(place.path);
  await once(server, 'listening');
  place.close();
}

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'carrel-control-'));
  mkdirSync(join(home, 'network'));
  [received, daemons, deadly] = [[], [], []];
  await listen();
  client = new ProxyProcess({ home, report: () => {} });
});
afterEach(() => {
  client.dispose();
  for (const socket of daemons) socket.destroy();
  server.close();
  rmSync(home, { recursive: true });
});

function attachment(id: string): Attachment {
  return {
    ...{ id, name: id, user: 'ann', folder: home, allow: ['a.example'], limits: defaultNetworkLimits },
    init: { pid: 1, startTicks: 1, bootId: 'test' },
    ...{ services: [], credentials: [], ports: [] },
  };
}

const attachedIds = () => received.flatMap((order) => (order.verb === 'attach' ? [order.attachment.id] : []));

describe('the daemon', () => {
  it('opens one connection to the proxy, even if many orders begin at once', async () => {
    const ids = Array.from({ length: 20 }, (_, at) => `sandbox-${at}`);
    await Promise.all(ids.map((id) => client.detach(id)));
    expect(received.filter(({ verb }) => verb === 'hello')).toHaveLength(1);
    expect(received.flatMap((order) => (order.verb === 'detach' ? [order.id] : [])).sort()).toEqual([...ids].sort());
  });

  it('sends a new proxy all current attachments', async () => {
    await client.attach(attachment('one'));
    await client.attach(attachment('two'));
    await client.detach('one');
    received = [];
    server.close();
    for (const socket of daemons.splice(0)) socket.destroy();
    await listen();
    await soon(() => expect(attachedIds()).toEqual(['two']));
  });

  it('detaches without an error if there is no proxy', async () => {
    server.close();
    await client.detach('one');
    await client.keepOnly([]);
    expect(received).toEqual([]);
  });

  it('detaches without an error if the proxy ends before it answers', async () => {
    deadly = ['detach', 'keepOnly'];
    await client.detach('one');
    await client.keepOnly([]);
    expect(received.map(({ verb }) => verb)).toEqual(['hello', 'detach', 'hello', 'keepOnly']);
  });

  it('attaches on a new connection if the current one is closing', async () => {
    const connections: Socket[] = [];
    const note = (message: unknown) => void connections.push((message as { socket: Socket }).socket);
    subscribe('net.client.socket', note);
    await client.attach(attachment('one'));
    unsubscribe('net.client.socket', note);
    connections[0]!.destroy();
    await client.attach(attachment('two'));
    expect(attachedIds()).toContain('two');
  });
});
