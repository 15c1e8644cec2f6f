// @needs root
/**
 * Services that the owner declared: a sandbox reaches those that it was granted, and each service learns its caller,
 * whatever the caller claims.
 */
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type Server as HttpServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ExplainView } from '../../src/noun/network/api.ts';
import { Testbed, type Way, ways } from '../fixtures/attacks/testbed.ts';
import { gather, until } from '../harness/installation.ts';
import { killProxy } from '../harness/proxy.ts';
import { SwarmProject } from '../harness/swarm.ts';

interface Caller {
  readonly id: string;
  readonly name: string;
  readonly user: string;
}

/** A program that tries to pass for another sandbox: sends raw bytes and prints the answers. */
const hostile = `
import json, socket, sys
claim = 'X-Carrel-Caller: {"id":"root","name":"root","user":"root"}'
head = 'Host: x\\r\\n'
body = 'POST /hidden HTTP/1.1\\r\\nHost: x\\r\\n%s\\r\\nContent-Length: 0\\r\\n\\r\\n' % claim
tries = {
  'header': 'GET /header HTTP/1.1\\r\\n%s%s\\r\\n\\r\\n' % (head, claim),
  'spelling': 'GET /spelling HTTP/1.1\\r\\n%s%s\\r\\n%s\\r\\n\\r\\n' % (head, claim.lower(), claim.replace('-', '_', 2)),
  'hop': 'GET /hop HTTP/1.1\\r\\n%sConnection: X-Carrel-Caller\\r\\n%s\\r\\n\\r\\n' % (head, claim),
  'folded': 'GET /folded HTTP/1.1\\r\\n%sA: b\\r\\n %s\\r\\n\\r\\n' % (head, claim),
  'space': 'GET /space HTTP/1.1\\r\\n%sX-Carrel-Caller : root\\r\\n\\r\\n' % head,
  'bare': 'GET /bare HTTP/1.1\\r\\n%sA: b\\n%s\\r\\n\\r\\n' % (head, claim),
  'two': 'POST /two HTTP/1.1\\r\\n%sContent-Length: 0\\r\\nContent-Length: %d\\r\\n\\r\\n%s' % (head, len(body), body),
  'both': 'POST /both HTTP/1.1\\r\\n%sContent-Length: %d\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n%s' % (head, len(body) + 5, body),
  'coding': 'POST /coding HTTP/1.1\\r\\n%sTransfer-Encoding: xchunked\\r\\nContent-Length: 0\\r\\n\\r\\n%s' % (head, body),
  'trailer': 'POST /trailer HTTP/1.1\\r\\n%sTransfer-Encoding: chunked\\r\\nTrailer: X-Carrel-Caller\\r\\n\\r\\n0\\r\\n%s\\r\\n\\r\\n' % (head, claim),
  'pipelined': 'GET /first HTTP/1.1\\r\\n%s\\r\\n%s' % (head, body),
  'absolute': 'GET http://evil.test/ HTTP/1.1\\r\\n%s%s\\r\\n\\r\\n' % (head, claim),
  'h2c': 'GET /h2c HTTP/1.1\\r\\n%sConnection: Upgrade, HTTP2-Settings\\r\\nUpgrade: h2c\\r\\nHTTP2-Settings: AAMAAABkAAQAAP__\\r\\n\\r\\n' % head,
  'connect': 'CONNECT 127.0.0.1:1 HTTP/1.1\\r\\n%s\\r\\n' % head,
}
answers = {}
for name, bytes in tries.items():
    # What is answered may stay open; what is not is closed.
    last = b'hello /%s\\n' % (b'hidden' if name == 'pipelined' else name.encode())
    with socket.create_connection(('127.0.0.1', int(sys.argv[1])), 20) as s:
        s.sendall(bytes.encode())
        heard = b''
        try:
            while last not in heard and (chunk := s.recv(65536)): heard += chunk
        except OSError: pass
        answers[name] = heard.decode()
print(json.dumps(answers))
`;

const ports = { notes: 17_010, log: 17_011, near: 17_012 } as const;

describe.each(ways)('a service, %s', (way: Way) => {
  let testbed: Testbed;
  let web: HttpServer;
  let near: HttpServer;
  let lines: Server;
  let asked: IncomingMessage[] = [];
  let heard: string[] = [];
  const upgraded: Duplex[] = [];
  let config: string;
  const carrel = () => testbed.carrel;
  const callers = () =>
    asked.map(({ headersDistinct }) => headersDistinct['x-carrel-caller']!.map((one) => JSON.parse(one) as Caller));

  beforeAll(async () => {
    testbed = await Testbed.open(way);
    const folder = carrel().folder('services');
    const serve = () =>
      createHttpServer((request, response) => {
        asked.push(request);
        response.end(`hello ${request.url}\n`);
      });
    [web, near] = [serve(), serve()];
    web.on('upgrade', (request: IncomingMessage, socket) => {
      asked.push(request);
      upgraded.push(socket);
      socket.on('error', () => {});
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nopen');
      socket.pipe(socket);
    });
    lines = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (chunk) => heard.push(chunk.toString())).pipe(socket);
    });
    const [webPath, linesPath] = [join(folder, 'web.sock'), join(folder, 'lines.sock')];
    await Promise.all([
      once(web.listen(webPath), 'listening'),
      once(lines.listen(linesPath), 'listening'),
      once(near.listen(0, '127.0.0.1'), 'listening'),
    ]);
    for (const path of [webPath, linesPath]) chmodSync(path, 0o666);
    const { port } = near.address() as AddressInfo;
    config = join(carrel().home, 'config.yaml');
    const declared = [
      'services:',
      `  notes: {port: ${ports.notes}, to: ${webPath}}`,
      `  log: {port: ${ports.log}, to: ${linesPath}, identity: line}`,
      `  near: {port: ${ports.near}, to: '127.0.0.1:${port}'}`,
    ];
    carrel().append('home/config.yaml', `${declared.join('\n')}\n`);
    await carrel().ok('create', '--name', 'box', '--service', 'notes', '--service', 'log');
    await carrel().ok('create', '--name', 'other', '--service', 'near');
    await carrel().ok('create', '--name', 'none', '--network', 'example.test');
  }, 120_000);
  afterAll(async () => {
    await testbed.dispose();
    for (const server of [web, near, lines]) server.close();
  }, 60_000);
  beforeEach(() => {
    [asked, heard] = [[], []];
  });

  const ask = (name: string, port: number, ...more: string[]) =>
    carrel().run(['exec', name, '--', 'curl', '-sS', '--max-time', '20', ...more, `http://127.0.0.1:${port}/x`]);

  it('gets the id, name and user of the calling sandbox in a header', async () => {
    expect(await ask('box', ports.notes)).toMatchObject({ exitCode: 0, stdout: 'hello /x\n' });
    expect(await ask('other', ports.near, '-d', 'body')).toMatchObject({ exitCode: 0, stdout: 'hello /x\n' });
    const [box, other] = await Promise.all(['box', 'other'].map((name) => carrel().show(name)));
    expect(callers()).toEqual([
      [{ id: box!.id, name: 'box', user: box!.user }],
      [{ id: other!.id, name: 'other', user: other!.user }],
    ]);
    const env = await carrel().ok('exec', 'box', '--', 'env');
    expect(env).toContain(`CARREL_SERVICE_NOTES=127.0.0.1:${ports.notes}\n`);
    expect(env).not.toContain('HTTP_PROXY');
    expect(box!.services).toEqual([
      { name: 'notes', port: ports.notes },
      { name: 'log', port: ports.log },
    ]);
  });

  it('listens before the command starts', async () => {
    const asking = ['curl', '-sS', `http://127.0.0.1:${ports.near}/first`];
    const said = await carrel().run(['run', '--rm', '--service', 'near', '--', ...asking]);
    expect(said).toEqual({ exitCode: 0, stdout: 'hello /first\n', stderr: '' });
  });

  it('gets no caller header that the sandbox forged', async () => {
    const { stdout, stderr } = await carrel().run(['exec', 'box', '--', 'python3', '-c', hostile, String(ports.notes)]);
    const { id, user } = await carrel().show('box');
    expect([stderr, Object.keys(JSON.parse(stdout) as object)]).toEqual(['', expect.arrayContaining(['pipelined'])]);
    expect(asked.length).toBeGreaterThan(4);
    expect(callers().filter((all) => JSON.stringify(all) !== JSON.stringify([{ id, name: 'box', user }]))).toEqual([]);
    const trailers = asked.flatMap(({ trailers }) => Object.keys(trailers));
    expect(trailers).toEqual([]);
    const paths = asked.map(({ url }) => url);
    // Only the request that was sent as one of its own arrives, none that was hidden in another.
    expect(paths.filter((path) => path === '/hidden')).toEqual(['/hidden']);
    expect(paths).not.toEqual(expect.arrayContaining(['/two', '/both', '/coding', '/h2c', 'http://evil.test/']));
  });

  it('gets the caller as the first line if its protocol is not HTTP', async () => {
    const say = `exec 3<>/dev/tcp/127.0.0.1/${ports.log}; echo '{"id":"root"}' >&3; head -n 2 <&3`;
    const { stdout } = await carrel().run(['exec', 'box', '--', 'bash', '-c', say]);
    const { id, user } = await carrel().show('box');
    const [first, second] = stdout.trim().split('\n');
    expect([JSON.parse(first!), second]).toEqual([{ id, name: 'box', user }, '{"id":"root"}']);
  });

  it('is reached only by sandboxes that were granted it', async () => {
    for (const [name, port] of [
      ['none', ports.notes],
      ['other', ports.notes],
      ['box', ports.near],
    ] as const)
      expect([name, (await ask(name, port)).exitCode]).toEqual([name, 7]);
    const through = await ask('none', ports.notes, '--noproxy', '', '--proxy', 'http://127.0.0.1:17000');
    expect(through.stdout).toContain('no rule allows 127.0.0.1');
    expect(asked).toEqual([]);
    const unknown = await carrel().run(['create', '--service', 'unknown']);
    expect([unknown.exitCode, unknown.stderr]).toEqual([5, expect.stringContaining('no service unknown is declared')]);
    const explained = await carrel().json<ExplainView>('net', 'explain', 'box', `127.0.0.1:${ports.notes}`);
    expect(explained).toMatchObject({ allowed: true, rule: 'service notes' });
    const record = await carrel().ok('--json', 'net', 'log', 'box');
    expect(record).toContain('"rule":"service notes"');
  });

  const inSwarms = async () => {
    const command = `[curl, -sS, 'http://127.0.0.1:${ports.notes}/swarm']`;
    carrel().append('home/config.yaml', `agents:\n  caller: {kind: command, command: ${command}}\n`);
    const project = new SwarmProject(carrel(), 'swarm', { call: ['Call.'] });
    await project.swarm('run', '--all', '--agent', 'caller', '--service', 'notes');
    expect(callers()).toEqual([[expect.objectContaining({ name: 'call' })]]);
    expect(asked[0]!.url).toBe('/swarm');
  };
  if (way === 'root') it('is reached by the agents of a swarm that was granted it', inSwarms);

  it('passes WebSockets, with the caller in their handshake', async () => {
    const upgrade = ['-N', '-H', 'Connection: Upgrade', '-H', 'Upgrade: websocket', '-H', 'X-Carrel-Caller: root'];
    const url = `http://127.0.0.1:${ports.notes}/x`;
    const curl = carrel().spawn(['exec', 'box', '--', 'curl', '-sS', ...upgrade, url]);
    const seen = gather(curl.stdout!);
    await until(() => seen() !== '', 'a word');
    expect(seen()).toBe('open');
    expect(callers()).toEqual([[expect.objectContaining({ name: 'box' })]]);
    for (const socket of upgraded.splice(0)) socket.destroy();
    await once(curl, 'exit');
  });

  it('works again after kills of proxy and daemon, and closes when it is removed from config.yaml', async () => {
    await carrel().killDaemon();
    expect(killProxy(carrel().home)).not.toBeNull();
    await until(async () => (await ask('box', ports.notes)).exitCode === 0, 'the service to come back');
    const text = carrel().read('home/config.yaml');
    writeFileSync(config, text.replace(/^ {2}notes: .*\n/m, ''));
    await carrel().ok('run', '--rm', '--', 'true');
    await until(async () => (await ask('box', ports.notes)).exitCode === 7, 'the service to be gone');
    writeFileSync(config, text);
  });
});
