/** Watchers of rooms: programs, webhooks and agents that handle messages while the daemon dies. */
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { MessageView, WatchView } from '../../src/noun/room/api.ts';
import { Installation, isRunning, until } from '../harness/installation.ts';

let carrel: Installation;

beforeAll(async () => {
  carrel = new Installation();
  await carrel.ok('create', '--name', 'bot', '--', 'sleep', '1d');
});
afterAll(() => carrel.dispose());

async function room(name: string): Promise<void> {
  await carrel.ok('room', 'create', name);
}

async function messages(name: string): Promise<MessageView[]> {
  return JSON.parse(await carrel.ok('room', 'read', name, '--peek', '--json')) as MessageView[];
}

async function watcher(name: string, who: string): Promise<WatchView> {
  const stdout = await carrel.ok('room', 'watch', name, '--json');
  return (JSON.parse(stdout) as WatchView[]).find((one) => one.who === who)!;
}

const handled = (name: string, who: string, count: number) =>
  until(async () => (await watcher(name, who)).handled === count, `${who} to handle ${count} messages`);

interface Seen {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers requests with these status codes in turn; a zero closes the connection. */
async function receiver(...codes: number[]): Promise<{ server: Server; url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    seen.push({ headers: request.headers, body });
    const code = codes.shift() ?? 200;
    if (code === 0) return void request.socket.destroy();
    response.writeHead(code, { location: 'http://127.0.0.1:1/' }).end('answer');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in` };
}

it('a watcher starts a stopped sandbox when it is mentioned, and posts its output as a reply', async () => {
  await room('wake');
  await carrel.ok('stop', 'bot');
  await carrel.ok('room', 'watch', 'wake', 'bot', '--wake', '--', 'sh', '-c', 'tail -n 1 | tr a-z A-Z; id -un');
  await carrel.ok('room', 'post', 'wake', 'not for it');
  await carrel.ok('room', 'post', 'wake', '@bot hello');
  await handled('wake', 'bot', 1);
  const [, asked, answer] = await messages('wake');
  expect(answer).toMatchObject({ from: 'bot', via: 'watch', replyTo: asked!.id, body: '@BOT HELLO\nagent' });
});

it.each(['watch.begun', 'watch.acted', 'watch.answered'])(
  'a watcher answers once when the daemon dies at %s',
  async (point) => {
    const name = point.replace('.', '-');
    await room(name);
    await carrel.ok('room', 'watch', name, 'bot', '--wake', '--', 'echo', 'yes');
    const pid = await carrel.dieAt(point);
    await carrel.ok('room', 'post', name, '@bot hello').catch(() => {});
    await until(() => !isRunning(pid), 'the daemon to die');
    await handled(name, 'bot', 1);
    await carrel.ok('room', 'post', name, '@bot again');
    await handled(name, 'bot', 2);
    expect((await messages(name)).map(({ body }) => body)).toEqual(['@bot hello', 'yes', '@bot again', 'yes']);
  },
);

it('a watcher of agents that mention each other is paused, and the room gets a message about it', async () => {
  await room('loop');
  await carrel.ok('create', '--name', 'other', '--', 'sleep', '1d');
  await carrel.ok('room', 'watch', 'loop', 'bot', '--wake', '--', 'echo', '@other your turn');
  await carrel.ok('room', 'watch', 'loop', 'other', '--wake', '--', 'echo', '@bot your turn');
  await carrel.ok('room', 'post', 'loop', '@bot begin');
  const paused = async () =>
    [await watcher('loop', 'bot'), await watcher('loop', 'other')].filter((one) => one.paused !== null);
  await until(async () => (await paused()).length > 0, 'a watcher to be paused');
  const [one] = await paused();
  expect(one!.paused).toMatch('answered each other');
  expect((await messages('loop')).at(-1)).toMatchObject({ from: one!.who, body: expect.stringMatching('is paused') });
  await carrel.ok('room', 'watch', 'loop', one!.who, '--resume');
  expect(await watcher('loop', one!.who)).toMatchObject({ paused: null });
});

it('a watcher repeats a signed webhook until it is accepted, and follows no redirect', async () => {
  await room('hooks');
  const { server, url, seen } = await receiver(500, 0, 302);
  await carrel.run(['secret', 'set', 'hook-key'], { input: 'k3y-of-the-hook' });
  await carrel.ok('room', 'watch', 'hooks', 'desk', '--webhook', url, '--secret', 'hook-key');
  const stdout = await carrel.ok('room', 'post', 'hooks', 'hello @desk');
  await handled('hooks', 'desk', 1);
  server.close();
  expect(seen).toHaveLength(4);
  for (const { headers, body } of seen) {
    const signed = createHmac('sha256', 'k3y-of-the-hook').update(`${headers['x-carrel-timestamp']}.${body}`);
    expect(headers['x-carrel-signature']).toBe(`sha256=${signed.digest('hex')}`);
    expect(headers['x-carrel-delivery']).toBe(stdout.trim());
    expect(JSON.parse(body)).toMatchObject({ room: 'hooks', to: 'desk', message: { body: 'hello @desk' } });
  }
});

it('a watcher runs a program of the host with the message on stdin, also for services with addresses', async () => {
  await room('sms');
  const out = `${carrel.folder('sms')}/sent`;
  await carrel.ok(
    'room',
    'watch',
    'sms',
    'sms',
    '--run',
    '--',
    'sh',
    '-c',
    `cat >> ${out}; env | grep ^SECRET >> ${out}`,
  );
  await carrel.ok('room', 'post', 'sms', 'Call me, @sms:+4930123456');
  // grep finds nothing and fails, so the message is retried with the same id.
  await until(async () => ((await watcher('sms', 'sms')).handling?.attempts ?? 0) >= 2, 'a second attempt');
  await carrel.ok('room', 'watch', 'sms', 'sms', '--rm');
  await carrel.ok('room', 'watch', 'sms', 'sms', '--run', '--', 'cp', '/dev/stdin', out);
  const stdout = await carrel.ok('room', 'post', 'sms', 'Again, @sms:+4930123456');
  await handled('sms', 'sms', 1);
  expect(readFileSync(out, 'utf8')).toMatch(
    new RegExp(`^---\\nid: ${stdout.trim()}\\n[^]*Again, @sms:\\+4930123456\\n$`),
  );
});

it('an invalid watcher is refused with the reason', async () => {
  await room('wrong');
  for (const [args, message] of [
    [['nobody', '--wake'], 'nobody'],
    [['bot', '--wake', '--agent', 'vim'], 'no command is known that wakes the agent vim'],
    [['x', '--run'], 'needs a command'],
    [['x', '--webhook', 'ftp://host/'], 'webhook'],
    [['x', '--webhook', 'http://host/', '--secret', 'missing'], 'no secret missing'],
    [['x', '--run', '--wake', '--', 'true'], 'one of'],
    [['all', '--run', '--', 'true'], 'not a name'],
  ] as const) {
    const { exitCode, stderr } = await carrel.run(['room', 'watch', 'wrong', ...args]);
    expect([exitCode !== 0, stderr]).toEqual([true, expect.stringMatching(message)]);
  }
  await carrel.ok('room', 'watch', 'wrong', 'x', '--run', '--', 'true');
  expect((await carrel.run(['room', 'watch', 'wrong', 'x', '--run', '--', 'true'])).stderr).toMatch('already');
});
