// @needs root
// @takes 25 s
/** Ports of this machine that lead to servers in sandboxes, crashes of the daemon, and the sources of network rules. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PortRow } from '../../src/noun/network/api.ts';
import { Testbed, type Way, ways } from '../fixtures/attacks/testbed.ts';
import { Installation, until } from '../harness/installation.ts';
import { killProxy } from '../harness/proxy.ts';

/** Answers a WebSocket handshake and then echoes; listens on the address in its arguments. */
const echo = `
import socket, sys, threading
server = socket.create_server((sys.argv[1], int(sys.argv[2])), family=socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET)
def serve(client):
    with client:
        head = b''
        while b'\\r\\n\\r\\n' not in head:
            head += client.recv(4096)
        head, rest = head.split(b'\\r\\n\\r\\n', 1)
        client.sendall(b'HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n' + rest)
        while chunk := client.recv(4096):
            client.sendall(chunk)
while True:
    threading.Thread(target=serve, args=(server.accept()[0],)).start()
`;
const handshake = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

describe.each(ways)('a port, %s', (way: Way) => {
  let testbed: Testbed;
  let port: number;
  const carrel = () => testbed.carrel;
  const server = (address: string, at: number) => ['/usr/bin/python3', '-c', echo, address, String(at)];

  beforeAll(async () => {
    testbed = await Testbed.open(way);
    await carrel().ok('create', '--name', 'web', '--', ...server('127.0.0.1', 8000));
    port = Number((await carrel().ok('port', 'add', 'web', '8000')).trim().split(':').at(-1));
  }, 120_000);
  afterAll(() => testbed.dispose(), 60_000);

  it('leads to a server inside, and WebSockets pass', async () => {
    await until(async () => (await talk(port, 'frames')) === 'frames', 'the server');
    expect(await carrel().json<PortRow[]>('port', 'ls')).toEqual([
      { sandbox: 'web', port: 8000, hostPort: port, hostAddress: '127.0.0.1', state: 'running' },
    ]);
  });

  it('is open on loopback only', async () => {
    const rows = execFileSync('ss', ['-Htln', `sport = :${port}`], { encoding: 'utf8' })
      .trim()
      .split('\n');
    expect(rows.map((row) => row.split(/\s+/)[3])).toEqual([`127.0.0.1:${port}`]);
  });

  it('leads to a server that has only IPv6, and closes connections if there is no server', async () => {
    const six = Number((await carrel().ok('port', 'add', 'web', '8001')).trim().split(':').at(-1));
    expect(await talk(six, 'x')).toBeNull();
    const child = carrel().spawn(['exec', 'web', '--', ...server('::1', 8001)]);
    await until(async () => (await talk(six, 'six')) === 'six', 'the server with IPv6');
    child.kill('SIGKILL');
    expect(await carrel().ok('port', 'rm', 'web', '8001')).toBe(`${six}\n`);
    expect(await talk(six, 'six')).toBeNull();
  });

  it('survives kills of the daemon and the proxy, and a stop', async () => {
    await carrel().killDaemon();
    expect(await talk(port, 'without a daemon')).toBe('without a daemon');
    await carrel().ok('ls');
    expect(killProxy(carrel().home)).not.toBeNull();
    await until(async () => (await talk(port, 'again')) === 'again', 'the port to come back');
    await carrel().ok('stop', '--grace', '0', 'web');
    expect(await talk(port, 'stopped')).toBeNull();
    await carrel().ok('start', 'web');
    await until(async () => (await talk(port, 'started')) === 'started', 'the port after a start');
  });

  it('that is taken is refused, and leaves no record', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port: hostPort } = taken.address() as { port: number };
    const { exitCode, stderr } = await carrel().run(['port', 'add', 'web', `8000:${hostPort}`]);
    taken.close();
    expect([exitCode, stderr]).toEqual([6, expect.stringContaining(`127.0.0.1:${hostPort} is taken on this machine`)]);
    const again = await carrel().run(['port', 'add', 'web', `9:${port}`]);
    expect([again.exitCode, again.stderr]).toEqual([6, expect.stringContaining('is forwarded to web already')]);
    expect((await carrel().json<PortRow[]>('port', 'ls')).length).toBe(1);
  });

  describe('a crash', () => {
    const rule = 'one.example';
    const answer = async (host: string) =>
      (await carrel().run(['exec', 'box', '--', 'curl', '-sS', `http://${host}/`])).stdout;

    it('between ordering the proxy and starting the command leaves one running sandbox with its network', async () => {
      await carrel().crashDuring('network:attached', 'create', '--name', 'box', '--network', rule);
      await until(async () => (await carrel().show('box')).state === 'running', 'the sandbox to run');
      await until(async () => (await answer('evil.example')).includes('no rule allows evil.example'), 'its network');
    });

    it('between recording a rule and ordering the proxy: the next daemon enforces the recorded rule', async () => {
      const [point, other] = ['network:recorded', 'two.example'] as const;
      await carrel().crashDuring(point, 'net', 'allow', 'box', other);
      expect((await carrel().show('box')).network.allow).toContain(other);
      await until(async () => !(await answer(other)).includes('no rule allows'), 'the rule');
      await carrel().crashDuring(point, 'net', 'deny', 'box', other);
      await until(async () => (await answer(other)).includes('no rule allows'), 'the rule to be gone');
    });
  });
});

/** Null: nothing listens there, or the connection is closed. */
function talk(port: number, text: string, host = '127.0.0.1'): Promise<string | null> {
  return new Promise((resolve) => {
    const socket: Socket = connect({ port, host }, () => socket.write(`${handshake}${text}`));
    let heard = '';
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString();
      if (!heard.endsWith(`\r\n\r\n${text}`)) return;
      socket.destroy();
      resolve(text);
    });
    socket.on('error', () => resolve(null));
    socket.on('close', () => resolve(null));
    socket.setTimeout(10_000, () => socket.destroy());
  });
}

describe('rules', () => {
  let carrel: Installation;
  let project: string;
  const allowed = async (name: string) => (await carrel.show(name)).network.allow;

  beforeAll(() => {
    carrel = new Installation();
    project = carrel.folder('project');
    writeFileSync(join(carrel.home, 'config.yaml'), 'network: {allow: [Default.example]}\n');
  });
  afterAll(() => carrel.dispose());

  it('come from the command line, else from the project, else from config.yaml', async () => {
    await carrel.ok('create', '--name', 'plain');
    await carrel.ok('create', '--name', 'none', '--network', 'none');
    await carrel.ok('create', '--name', 'asked', '--network', 'One.example, *.two.example:8443,one.example');
    writeFileSync(join(project, 'carrel.yaml'), 'network: [api.example]\n');
    await carrel.ok('trust', project);
    await carrel.ok('create', '--name', 'from-project', project);
    await carrel.ok('create', '--name', 'over-project', '--network', 'other.example', project);
    expect(await allowed('plain')).toEqual(['default.example']);
    expect(await allowed('none')).toEqual([]);
    expect(await allowed('asked')).toEqual(['one.example', '*.two.example:8443']);
    expect(await allowed('from-project')).toEqual(['api.example']);
    expect(await allowed('over-project')).toEqual(['other.example']);
  });

  it('are not read from a project that an agent can write', async () => {
    await carrel.ok('create', '--name', 'bound', '--mode', 'bind', project);
    expect(await allowed('bound')).toEqual(['default.example']);
    await carrel.ok('create', '--name', 'beside', project);
    expect(await allowed('beside')).toEqual(['default.example']);
    await carrel.ok('rm', '--force', 'bound', 'beside');
  });

  it.each([
    ['network: [169.254.169.254]', 4, 'is a metadata address, which only the owner'],
    ['network: everything', 2, 'carrel.yaml:1:1: network'],
    ['network: [a.example]\nnet: 1', 2, 'carrel.yaml:2:1: "net" is not known here'],
    ['network: [https://a.example]', 2, 'is a URL'],
    ['[', 2, 'carrel.yaml:1:2: '],
  ])('in a file that says %j are refused', async (text, code, why) => {
    const other = carrel.folder(`project-${Buffer.from(text).toString('hex')}`);
    writeFileSync(join(other, 'carrel.yaml'), text);
    const { exitCode, stderr } = await carrel.run(['create', other]);
    expect([exitCode, stderr]).toEqual([code, expect.stringContaining(why)]);
  });

  it('are not read through a link', async () => {
    const other = carrel.folder('linked');
    mkdirSync(join(other, 'x'));
    symlinkSync(join(project, 'carrel.yaml'), join(other, 'carrel.yaml'));
    const { exitCode, stderr } = await carrel.run(['create', other]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('carrel.yaml is a link')]);
  });

  it.each([
    ['*.com', 'too many hosts'],
    ['https://a.example', 'is a URL'],
    ['a.example:99999', 'is not a port'],
    ['127.1', 'odd spelling'],
    ['', 'is not a host name'],
    ['127.0.0.1:8080', 'would be the sandbox itself'],
    ['[::1]:8080,a.example', 'would be the sandbox itself'],
    ['localhost', 'would be the sandbox itself'],
    ['api.localhost:8080', '--service NAME'],
    ['all', 'all is not a host'],
    ['a.example,none', 'none stands alone'],
  ])('that are none are refused: %j', async (rule, why) => {
    const { exitCode, stderr } = await carrel.run(['create', '--network', rule]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(why)]);
  });
});
