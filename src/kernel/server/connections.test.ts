import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ServedApp, serve } from '../../../test/fixtures/served.ts';
import { type ConnectionLimits, Connections, limitsFor } from '../../lib/wire/connections.ts';
import { listen } from './listen.ts';

const limits: ConnectionLimits = { perAccount: 3, total: 5, unauthenticatedMs: 60_000, firstReserved: 1000 };

class FakeSocket extends EventEmitter {
  readonly uid: number;
  readonly _handle: { readonly fd: number };
  destroyed = false;

  constructor(uid: number, fd = 10) {
    super();
    this.uid = uid;
    this._handle = { fd };
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

function limited(changed: Partial<ConnectionLimits> = {}) {
  const connections = new Connections({ ...limits, ...changed }, (socket) => (socket as unknown as FakeSocket).uid);
  const open = (uid: number, fd?: number) => {
    const socket = new FakeSocket(uid, fd);
    return { socket, refusal: connections.accept(socket as unknown as Socket) };
  };
  const authenticated = ({ socket }: { socket: FakeSocket }) => connections.authenticated(socket as unknown as Socket);
  return { open, authenticated };
}

const states = (opened: readonly { socket: FakeSocket }[]) => opened.map(({ socket }) => socket.destroyed);

describe('connections to the shared socket', () => {
  it('are closed, oldest first, when one account has too many unauthenticated ones', () => {
    const { open } = limited();
    const all = [1, 2, 3, 4, 5].map(() => open(7));
    expect(states(all)).toEqual([true, true, false, false, false]);
    expect(all.every(({ refusal }) => refusal === null)).toBe(true);
  });

  it('are not closed once authenticated; a new connection is refused instead', () => {
    const { open, authenticated } = limited();
    const all = [open(7), open(7), open(7)];
    for (const one of all) authenticated(one);
    expect(open(7).refusal).toMatchObject({ code: 'unavailable', hint: expect.stringContaining('3 at a time') });
    expect(states(all)).toEqual([false, false, false]);
    all[0]!.socket.destroy();
    expect(open(7).refusal).toBeNull();
  });

  it('are accepted from other accounts while one account is at its limit', () => {
    const { open, authenticated } = limited();
    for (let count = 0; count < 50; count += 1) open(7);
    const bobs = open(8);
    expect(bobs.refusal).toBeNull();
    authenticated(bobs);
    for (const uid of [9, 10, 11, 12, 13, 14]) expect(open(uid).refusal).toBeNull();
    expect(bobs.socket.destroyed).toBe(false);
  });

  it('leave the last file descriptors to the owner', () => {
    const { open } = limited();
    expect(open(7, 1000).refusal).not.toBeNull();
    const idle = open(7, 999);
    expect([open(8, 1000).refusal, idle.socket.destroyed]).toEqual([null, true]);
  });

  it('have limits that depend on the file descriptors of the process', () => {
    expect(limitsFor(512)).toMatchObject({ perAccount: 64, total: 128, firstReserved: 384 });
    expect(limitsFor(1_048_576)).toMatchObject({ perAccount: 256, total: 1024, firstReserved: 1_047_552 });
  });
});

describe('the shared socket', () => {
  let app: ServedApp;
  beforeEach(() => {
    app = serve();
  });
  afterEach(() => app.dispose());

  it('closes a connection that sends no valid token in time, and no other', async () => {
    const token = await app.addUser('bob');
    const path = join(app.home, 'shared.sock');
    const server = await listen(app.served, path, { ...limits, perAccount: 5, unauthenticatedMs: 150 });
    const closed: string[] = [];
    const opened = (name: string, text: string) => {
      const socket = connect(path);
      socket.on('close', () => closed.push(name)).on('data', () => {});
      socket.write(text);
      return socket;
    };
    const request = (value: string) =>
      `GET /v1/events/stream?after=0 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${value}\r\n\r\n`;
    const follower = opened('bob', request(token));
    await once(follower, 'data');
    const others = [opened('idle', ''), opened('half', 'GET /v1/sandb'), opened('wrong', request('nothing'))];
    await Promise.all(others.map((socket) => once(socket, 'close')));
    expect(closed.sort()).toEqual(['half', 'idle', 'wrong']);
    expect(follower.destroyed).toBe(false);
    follower.destroy();
    server.close();
  });
});
