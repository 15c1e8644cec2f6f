/** Rooms through the real daemon: commands, followers, many writers, two daemons on one folder. */
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import type { MemberView, MessageView, RoomDetailView, RoomView } from '../../src/noun/room/api.ts';
import { gather, Installation, until } from '../harness/installation.ts';

let carrel: Installation;
beforeAll(async () => {
  carrel = new Installation();
  // All writers of a test are one participant, so its rate limit is raised.
  writeFileSync(join(carrel.home, 'config.yaml'), 'rooms: {burst: 100000}\n');
  await carrel.list();
});
afterAll(() => carrel.dispose());

const post = (client: Client, name: string, body: string, key?: string) =>
  client.call('POST /v1/rooms/{name}/messages', { path: { name }, body: { body, ...(key ? { key } : {}) } });
const folderOf = async (name: string) => (await carrel.json<RoomView>('room', 'show', name)).folder;

/** Reads ids after `after` until there are `count` of them. */
async function follow(client: Client, name: string, count: number, after?: string): Promise<string[]> {
  const ids: string[] = [];
  const gone = new AbortController();
  const query = after === undefined ? {} : { after };
  const stream = client.sent<MessageView>('GET /v1/rooms/{name}/follow', {
    path: { name },
    query,
    signal: gone.signal,
  });
  for await (const { id } of stream) if (ids.push(id) === count) break;
  gone.abort();
  return ids;
}

describe('commands', () => {
  it('create, post, read, search and remove a room', async () => {
    await carrel.ok('room', 'create', 'plans');
    const first = (await carrel.ok('room', 'post', 'plans', 'Hello', '@bob,', 'ready?')).trim();
    writeFileSync(join(carrel.home, 'note.txt'), 'attached text');
    const { exitCode, stdout } = await carrel.process(
      ['room', 'post', 'plans', '--reply', first, '--attach', join(carrel.home, 'note.txt'), '-'],
      { input: 'two\nlines \u001b[31mred\u202e\n' },
    );
    expect(exitCode).toBe(0);
    const second = stdout.trim();
    expect(await carrel.ok('room', 'read', 'plans', '--peek', '--limit', '1')).toMatch(
      new RegExp(
        `^\\w+ {2}\\S+ \\S+Z {2}${second}\n {2}reply to ${first}\n {2}attached note.txt, 13B\n {2}two\n {2}lines \\[31mred\n$`,
      ),
    );
    const folder = await folderOf('plans');
    expect(readFileSync(join(folder, 'attachments', second, 'note.txt'), 'utf8')).toBe('attached text');
    expect(statSync(folder).mode & 0o077).toBe(0);
    expect(
      (await carrel.json<MessageView[]>('room', 'read', 'plans', '--search', 'HELLO')).map(({ id }) => id),
    ).toEqual([first]);
    expect((await carrel.json<RoomView[]>('room', 'ls'))[0]).toMatchObject({ name: 'plans', messages: 2, unread: 2 });
    await carrel.ok('room', 'read', 'plans', '--unread', '--limit', '1');
    expect((await carrel.json<RoomView[]>('room', 'ls'))[0]).toMatchObject({ unread: 1 });
    expect(await carrel.ok('room', 'read', 'plans', '--unread')).toContain(second);
    expect(await carrel.ok('room', 'read', 'plans', '--unread')).toBe('');
    expect(await carrel.ok('room', 'show', 'plans')).toMatch(/^messages +2, 0 unread$/m);
    const members = await carrel.json<MemberView[]>('room', 'members', 'plans', '--add', 'ext', '--remove', 'bob');
    expect(members.map(({ kind }) => kind).sort()).toEqual(['outside', 'person']);
    await carrel.ok('room', 'rm', 'plans');
    expect(await carrel.json('room', 'ls')).toEqual([]);
    expect(readdirSync(join(folder, '..'))).toEqual([]);
  });

  it('refuse names, ids and messages that are not valid, with their exit codes', async () => {
    await carrel.ok('room', 'create', 'strict');
    const refused = async (...args: string[]) => (await carrel.run(['room', ...args])).exitCode;
    const said = async (...args: string[]) => (await carrel.run(['room', ...args])).stderr;
    expect(await refused('create', 'No')).toBe(2);
    expect(await refused('create', 'strict')).toBe(6);
    expect(await said('create', 'x', '--keep-days', '0')).toContain('--keep-days: it has to be more than 0');
    expect(await said('post', 'strict')).toContain('to read it from stdin: carrel room post strict -');
    expect(await said('post', 'strict', 'x', '--attach', '/no/file')).toContain('"/no/file" does not exist');
    expect(await said('post', 'strict', 'x', '--attach', '/etc')).toContain('Pack a folder first');
    expect(await refused('post', 'none', 'x')).toBe(5);
    expect(await refused('post', 'strict', ' ')).toBe(2);
    expect(await refused('post', 'strict', 'x', '--reply', 'abc')).toBe(2);
    for (const command of ['read', 'follow'])
      expect((await carrel.run(['room', command, 'strict', '--after', 'x'])).stderr).toMatch(
        /--after: "x" is not a message id\n +hint: A message id has 26 .* carrel room read strict/,
      );
    expect(await refused('post', 'strict', 'x', '--reply', '01JD8Q4Y000000000000000000')).toBe(5);
    const long = { input: 'x'.repeat(300_000) };
    expect((await carrel.process(['room', 'post', 'strict', '-'], long)).exitCode).toBe(7);
    expect(await refused('read', 'strict', '--limit', 'many')).toBe(2);
    expect(await refused('members', 'strict', '--add', '../x')).toBe(2);
    expect(await refused('members', 'strict', '--remove', 'bob')).toBe(5);
    expect(await carrel.json('room', 'read', 'strict')).toEqual([]);
  });

  it('R16: show repairs damaged files of a room', async () => {
    await carrel.ok('room', 'create', 'damaged');
    await post(carrel.client, 'damaged', 'one');
    const folder = await folderOf('damaged');
    writeFileSync(join(folder, 'order.log'), 'nonsense');
    expect(await carrel.json<RoomDetailView>('room', 'show', 'damaged')).toMatchObject({ repaired: 1 });
    const [file = ''] = readdirSync(join(folder, 'processed'));
    rmSync(join(folder, 'processed', file));
    expect(await carrel.json<RoomDetailView>('room', 'show', 'damaged')).toMatchObject({ repaired: 0 });
    expect(await carrel.json<RoomDetailView>('room', 'show', 'damaged', '--repair')).toMatchObject({ repaired: 1 });
    expect(readdirSync(join(folder, 'processed'))).toEqual([file]);
    expect(readFileSync(join(folder, 'order.log'), 'utf8')).toMatch(/^[0-9A-Z]{26}-\S+\.md\n$/);
  });

  it('R13: show --refused lists what was refused, the newest first', async () => {
    await carrel.ok('room', 'create', 'refusing');
    const folder = await folderOf('refusing');
    for (const name of ['one.md', 'two.md']) {
      writeFileSync(join(folder, 'inbox', name), Buffer.from([0xff]));
      await until(async () => existsSync(join(folder, 'dead', `${name}.reason`)), `${name} to be refused`);
    }
    const listed = await carrel.ok('room', 'show', 'refusing', '--refused');
    expect(listed).toMatch(/^REFUSED +FROM +FILE +REASON\n.* dead\/two.md +not UTF-8\n.* dead\/one.md +not UTF-8\n$/);
    expect(await carrel.json('room', 'show', 'refusing', '--refused')).toMatchObject([
      { name: 'two.md', file: 'two.md', reason: 'not UTF-8' },
      { name: 'one.md' },
    ]);
  });

  it('R5: follow prints messages as they are posted', async () => {
    await carrel.ok('room', 'create', 'live');
    const follower = carrel.spawn(['--json', 'room', 'follow', 'live']);
    const seen = gather(follower.stdout!);
    await until(async () => {
      await post(carrel.client, 'live', 'hi');
      return seen().includes('"body":"hi"');
    }, 'the follower to print a message');
    follower.kill();
    await once(follower, 'exit');
  });
});

describe('order', () => {
  it('R2: every follower gets each message of many writers once, in the same order', async () => {
    const [writers, each] = process.env.CARREL_TEST_ALL ? [20, 1000] : [20, 50];
    await carrel.ok('room', 'create', 'busy');
    const first = await post(carrel.client, 'busy', 'start');
    const followers = Array.from({ length: 20 }, () => follow(carrel.client, 'busy', writers * each, first.id));
    const write = async (writer: number) => {
      const ids: string[] = [];
      for (let n = 0; n < each; n += 1) ids.push((await post(carrel.client, 'busy', `${writer} ${n}`)).id);
      return ids;
    };
    const written = await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
    for (const ids of written) expect(ids).toEqual([...ids].sort());
    const expected = written.flat().sort();
    for (const ids of await Promise.all(followers)) expect(ids).toEqual(expected);
    const folder = await folderOf('busy');
    const order = readFileSync(join(folder, 'order.log'), 'utf8').split('\n');
    expect(order.slice(1, -1).map((name) => name.slice(0, 26))).toEqual(expected);
  });

  it('R5: a follower continues after the daemon was killed, with nothing lost or repeated', async () => {
    await carrel.ok('room', 'create', 'lasting');
    const acknowledged: string[] = [];
    let isOver = false;
    const writing = (async () => {
      for (let n = 0; !isOver; n += 1) {
        // The key makes a retry safe if the daemon died before it answered.
        const posted = await post(carrel.client, 'lasting', `m${n}`, `k${n}`).catch(() => null);
        if (posted === null) n -= 1;
        else acknowledged.push(posted.body);
      }
    })();
    const seen: MessageView[] = [];
    for (let kills = 0; kills < 3; kills += 1) {
      const gone = new AbortController();
      const after = seen.at(-1)?.id ?? '00000000000000000000000000';
      const input = { path: { name: 'lasting' }, query: { after }, signal: gone.signal };
      const following = (async () => {
        for await (const message of carrel.client.sent<MessageView>('GET /v1/rooms/{name}/follow', input))
          seen.push(message);
      })().catch(() => {});
      const before = acknowledged.length;
      await until(() => acknowledged.length > before + 20 && seen.length > 0, 'some messages');
      await carrel.killDaemon();
      await following;
      await carrel.list();
    }
    isOver = true;
    await writing;
    const missing = acknowledged.length - seen.length;
    const rest = missing > 0 ? await follow(carrel.client, 'lasting', missing, seen.at(-1)!.id) : [];
    const bodies = seen.map(({ body }) => body);
    expect(bodies).toEqual(acknowledged.slice(0, bodies.length));
    expect(seen.length + rest.length).toBe(acknowledged.length);
    expect(await carrel.json<RoomDetailView>('room', 'show', 'lasting', '--repair')).toMatchObject({ repaired: 0 });
  });
});

describe('processes that are killed', () => {
  it('R4, R5: writers and followers leave each message once, and a follower continues after its last line', async () => {
    await carrel.ok('room', 'create', 'killed');
    const first = await post(carrel.client, 'killed', 'start');
    const seen: MessageView[] = [];
    const followUntilKilled = async (wanted: number) => {
      const after = seen.at(-1)?.id ?? first.id;
      const follower = carrel.spawn(['--json', 'room', 'follow', 'killed', '--after', after]);
      const printed = gather(follower.stdout!);
      await until(() => printed().split('\n').length > wanted, 'lines of the follower');
      follower.kill('SIGKILL');
      await once(follower, 'close');
      const lines = printed().split('\n').slice(0, -1);
      seen.push(...lines.map((line) => JSON.parse(line) as MessageView));
    };
    const acknowledged: string[] = [];
    const writeUntilKilled = async (n: number) => {
      const writer = carrel.spawn(['room', 'post', 'killed', `m${n}`]);
      const printed = gather(writer.stdout!);
      const ended = once(writer, 'close');
      // Some writers are killed before they connect, some while they wait, some after the answer.
      setTimeout(() => writer.kill('SIGKILL'), 100 + n * 60);
      await ended;
      if (printed().endsWith('\n')) acknowledged.push(printed().trim());
    };
    const writers = Promise.all(Array.from({ length: 8 }, (_, n) => writeUntilKilled(n)));
    await post(carrel.client, 'killed', 'one');
    await followUntilKilled(1);
    await writers;
    await post(carrel.client, 'killed', 'last');
    await followUntilKilled(1);
    const all = await carrel.json<MessageView[]>('room', 'read', 'killed', '--after', first.id);
    const rest = all.filter(({ id }) => id > seen.at(-1)!.id);
    expect([...seen, ...rest].map(({ id }) => id)).toEqual(all.map(({ id }) => id));
    const bodies = all.map(({ body }) => body);
    expect(new Set(bodies).size).toBe(bodies.length);
    for (const id of acknowledged) expect(all.map((message) => message.id)).toContain(id);
  });
});

describe('folders', () => {
  it('R6: a second daemon refuses a room that another daemon has open, and names its process', async () => {
    const folder = join(carrel.folder('elsewhere'), 'room');
    await carrel.ok('room', 'create', 'mine', '--at', folder);
    await carrel.ok('room', 'post', 'mine', 'hello');
    const other = new Installation();
    try {
      const { exitCode, stderr } = await other.run(['room', 'create', 'theirs', '--at', folder]);
      expect(exitCode).toBe(6);
      expect(stderr).toContain(String(carrel.daemonPid));
      await carrel.ok('room', 'rm', 'mine');
      await other.ok('room', 'create', 'theirs', '--at', folder);
      expect((await other.json<MessageView[]>('room', 'read', 'theirs')).map(({ body }) => body)).toEqual(['hello']);
    } finally {
      await other.dispose();
    }
  });

  it('a folder that others can write, that has other files, or that is in the home is refused', async () => {
    const top = carrel.folder('refused');
    const refused = async (path: string) => (await carrel.run(['room', 'create', 'odd', '--at', path])).exitCode;
    mkdirSync(join(top, 'open'));
    chmodSync(join(top, 'open'), 0o777);
    mkdirSync(join(top, 'full'));
    writeFileSync(join(top, 'full/x'), '');
    expect(await refused(join(top, 'open'))).toBe(4);
    expect(await refused(join(top, 'full'))).toBe(6);
    expect(await refused(join(carrel.home, 'x'))).toBe(2);
    expect(await refused(join(top, 'no/room'))).toBe(2);
  });

  it('users see and reach only their own rooms', async () => {
    await carrel.ok('room', 'create', 'private');
    await carrel.ok('user', 'add', 'bob');
    const asBob = (...args: string[]) => carrel.run(['--user', 'bob', ...args]);
    expect((await asBob('room', 'read', 'private')).exitCode).toBe(5);
    expect((await asBob('room', 'create', 'private')).exitCode).toBe(0);
    expect((await asBob('room', 'post', 'private', 'of bob')).exitCode).toBe(0);
    expect(await carrel.json('room', 'read', 'private')).toEqual([]);
    expect((await asBob('room', 'create', 'at', '--at', '/tmp/x')).exitCode).toBe(4);
  });
});
