// @needs root
/** What a sandbox reaches without a network: itself, and neither the host nor other sandboxes. */
import { readdirSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attackCommand, attacker, everyWay } from '../fixtures/attacks/testbed.ts';
import { until } from '../harness/installation.ts';

type Outcomes = Readonly<Record<string, string>>;

interface Network {
  readonly interfaces: readonly string[];
  readonly known: readonly string[];
  readonly sysfs: readonly string[];
  readonly routes: readonly string[];
  readonly listening: readonly string[];
  readonly tcp: Outcomes;
  readonly udp: string;
  readonly tcp6: string;
  readonly unix: Outcomes;
  readonly abstract: Outcomes;
  readonly families: Outcomes;
  readonly raw: string;
  readonly raw6: string;
  readonly own: string;
}

const neighbour = 'neighbour';
const neighbourPort = 47_311;

everyWay('network', (testbed) => {
  const servers: Server[] = [];
  const hostAddress = ownAddress();
  let port: number;
  let abstractName: string;
  let socketPath: string;

  beforeAll(async () => {
    const { token, folder, carrel } = testbed();
    abstractName = `${token}-host`;
    socketPath = join(folder, 'socket');
    const listening = await Promise.all([
      listen({ port: 0, host: '0.0.0.0' }),
      listen({ path: `\0${abstractName}` }),
      listen({ path: socketPath }),
    ]);
    servers.push(...listening);
    port = (servers[0]!.address() as { port: number }).port;
    const serve = attackCommand('serve', { port: neighbourPort, abstract: `${token}-neighbour` });
    await carrel.ok('create', '--name', neighbour, '--', ...serve);
    await carrel.ok('exec', neighbour, '--', 'sh', '-c', `echo ${token} > ~/secret; echo ${token} > /tmp/secret`);
    await until(async () => (await carrel.ok('logs', neighbour)).includes('port'), 'the neighbour to listen');
  });
  afterAll(() => servers.forEach((server) => void server.close()));

  describe.each(['command', 'exec'] as const)('a sandbox, by its %s,', (entrance) => {
    let found: Network;
    beforeAll(async () => {
      const { token, carrel } = testbed();
      const tcp = [
        ['127.0.0.1', port],
        [hostAddress, port],
        ['127.0.0.1', neighbourPort],
      ];
      const paths = [socketPath, join(carrel.home, 'carrel.sock')];
      const abstract = [abstractName, `${token}-neighbour`];
      found = await testbed().attack<Network>('sockets', { tcp, paths, abstract }, entrance);
    });

    it('has a loopback of its own that works', () => {
      expect(found.own).toBe('hello');
    });

    it('sees no other interface and no route', () => {
      expect([found.interfaces, found.known]).toEqual([['lo'], ['lo']]);
      expect(found.sysfs.filter((name) => name !== 'lo')).toEqual([]);
      expect(found.routes).toEqual([]);
      expect(readdirSync('/sys/class/net').length).toBeGreaterThan(1);
    });

    it('does not reach a server of the host', async () => {
      await expect(reach({ port, host: '127.0.0.1' })).resolves.toBe('ok');
      expect(found.tcp).toMatchObject({
        [`127.0.0.1:${port}`]: 'ECONNREFUSED',
        [`${hostAddress}:${port}`]: 'ENETUNREACH',
      });
    });

    it('reaches no address of other networks over UDP or IPv6', () => {
      expect([found.udp, found.tcp6]).toEqual(['ENETUNREACH', 'ENETUNREACH']);
    });

    it('does not reach an abstract socket of the host, and does not see it', async () => {
      await expect(reach({ path: `\0${abstractName}` })).resolves.toBe('ok');
      expect(found.abstract[abstractName]).toBe('ECONNREFUSED');
      expect(found.listening.filter((line) => line.includes(testbed().token))).toEqual([]);
    });

    it('does not reach a socket of the host by its path', async () => {
      await expect(reach({ path: socketPath })).resolves.toBe('ok');
      expect([...new Set(Object.values(found.unix))]).toEqual(['ENOENT']);
    });

    it('does not reach a server of another sandbox', () => {
      expect(found.tcp[`127.0.0.1:${neighbourPort}`]).toBe('ECONNREFUSED');
      expect(found.abstract[`${testbed().token}-neighbour`]).toBe('ECONNREFUSED');
    });

    it('gets no raw socket, and only the usual address families', () => {
      expect([found.raw, found.raw6]).toEqual(['EPERM', 'EPERM']);
      expect([...new Set(Object.values(found.families))]).toEqual(['EAFNOSUPPORT']);
    });
  });

  it('another sandbox reaches its own servers, at the addresses that were refused above', async () => {
    const args = { tcp: [['127.0.0.1', neighbourPort]], paths: [], abstract: [`${testbed().token}-neighbour`] };
    const found = await testbed().attack<Network>('sockets', args, 'exec', neighbour);
    expect([...Object.values(found.tcp), ...Object.values(found.abstract)]).toEqual(['ok', 'ok']);
  });

  it('a sandbox does not see the files and processes of another sandbox', async () => {
    const { carrel, token } = testbed();
    const search = `cat /home/*/secret /tmp/secret /proc/*/cmdline; ls /home /home/agent /tmp`;
    expect(await carrel.ok('exec', neighbour, '--', 'sh', '-c', `${search}; true`)).toContain(token);
    const { stdout } = await carrel.run(['exec', attacker, '--', 'sh', '-c', search]);
    expect(stdout).not.toContain(token);
  });
});

function listen(options: object): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', reject);
    server.listen(options, () => resolve(server));
  });
}

function reach(address: { port: number; host: string } | { path: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(address, () => {
      socket.destroy();
      resolve('ok');
    });
    socket.once('error', reject);
  });
}

function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '192.0.2.1';
}
