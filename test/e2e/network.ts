/** What a sandbox with rules reaches: the allowed hosts, through ordinary tools, and nothing else. */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ExplainView } from '../../src/noun/network/api.ts';
import { processesNaming, readOr, Testbed, type Way } from '../fixtures/attacks/testbed.ts';
import { goodName, packageName, Web } from '../fixtures/web.ts';
import { gather, Installation, isRunning, until } from '../harness/installation.ts';
import { killProxy, proxyPid } from '../harness/proxy.ts';

interface LogLine {
  readonly attempt: string;
  readonly asked?: string;
  readonly decision?: string;
  readonly rule?: string | null;
  readonly reason: string | null;
  readonly receivedBytes?: number;
  readonly durationMs?: number;
}

const box = 'box';
let web: Web;
/** Servers of the host that no sandbox may reach. */
let others: Server[];
let visitors = 0;

/** Each file that uses this module calls this: a worker loads the module once for several files. */
export function openServers(): void {
  beforeAll(async () => {
    web = await Web.open();
    others = await Promise.all(['127.0.0.1', '::1', '0.0.0.0'].map((host) => listen({ host, port: 0 })));
  });
  afterAll(async () => {
    for (const server of others) server.close();
    await web.dispose();
  });
}

export function network(way: Way): void {
  let testbed: Testbed;
  const carrel = () => testbed.carrel;
  const inside = (...command: string[]) => carrel().run(['exec', box, '--', ...command]);
  const log = async () =>
    (await carrel().ok('--json', 'net', 'log', box))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as LogLine);

  beforeAll(async () => {
    testbed = await Testbed.open(way, {
      [goodName]: '127.0.0.1',
      'inner.test': '10.1.2.3',
      'rebound.test': '127.0.0.1',
    });
    await carrel().ok('create', '--name', box, '--network', web.rules);
    const certificate = Buffer.from(web.authority.certificate).toString('base64');
    await carrel().ok('exec', box, '--', 'sh', '-c', `echo ${certificate} | base64 -d > /tmp/ca.pem`);
  }, 120_000);
  afterAll(() => testbed.dispose(), 60_000);

  it('curl, Python and git reach an allowed host through the proxy', async () => {
    const url = `https://${web.place}`;
    const python = [
      'import ssl, sys, urllib.request',
      'context = ssl.create_default_context(cafile="/tmp/ca.pem")',
      'print(urllib.request.urlopen(sys.argv[1], context=context).read().decode(), end="")',
    ].join('\n');
    const clone =
      'cd /tmp && git clone --quiet "$1/repository.git" cloned 2>/dev/null && git -C cloned log --format=%s';
    const tools: [string, string[], string][] = [
      ['curl', ['curl', '-sS', '--cacert', '/tmp/ca.pem', `${url}/curl`], `hello ${web.place}/curl\n`],
      [
        'curl over SOCKS',
        ['curl', '-sS', '--cacert', '/tmp/ca.pem', '-x', 'socks5h://127.0.0.1:17000', `${url}/s`],
        `hello ${web.place}/s\n`,
      ],
      ['python', ['/usr/bin/python3', '-c', python, `${url}/python`], `hello ${web.place}/python\n`],
      ['git', ['env', 'GIT_SSL_CAINFO=/tmp/ca.pem', 'sh', '-c', clone, 'sh', url], 'first\n'],
    ];
    for (const [name, command, output] of tools) {
      const { stdout, stderr } = await inside(...command);
      expect([name, stdout, stderr]).toEqual([name, output, '']);
    }
  });

  it('the proxy listens before the command starts', async () => {
    const url = `https://${web.place}/first`;
    const said = await carrel().run(['run', '--rm', '--network', web.rules, '--', 'curl', '-ksS', url]);
    expect(said).toEqual({ exitCode: 0, stdout: `hello ${web.place}/first\n`, stderr: '' });
    expect(await carrel().run(['run', '--rm', '--network', web.rules, '--', '/no/such'])).toMatchObject({
      exitCode: 127,
    });
  });

  it('run ends with the refused hosts and the option or command that allows them', async () => {
    const ask = 'for host in evil.test other.test:8443 evil.test; do curl -s "https://$host"; done; true';
    const run = (...options: string[]) =>
      carrel().run(['run', ...options, '--network', web.rules, '--', 'sh', '-c', ask]);
    const { exitCode, stderr } = await run('--name', 'refused');
    expect([exitCode, stderr]).toEqual([
      0,
      'carrel: no rule of refused allows evil.test:443, other.test:8443\n  hint: carrel net allow refused evil.test:443 other.test:8443\n',
    ]);
    expect((await run('--rm')).stderr).toContain('  hint: --network evil.test:443,other.test:8443\n');
    await carrel().ok('rm', 'refused');
  });

  it('node and npm reach an allowed host, and fetch names a refused one', async () => {
    const url = `https://${web.place}`;
    const install = `mkdir -p /tmp/app && cd /tmp/app && echo '{}' > package.json && npm install --silent --no-audit --registry "$1" ${packageName} && ls node_modules`;
    const { stdout } = await inside('env', 'npm_config_cafile=/tmp/ca.pem', 'sh', '-c', install, 'sh', url);
    expect(stdout).toBe(`${packageName}\n`);
    const trusted = ['env', 'NODE_EXTRA_CA_CERTS=/tmp/ca.pem'];
    const node = await inside(...trusted, 'node', '--input-type=module', '-e', nodeScript, url);
    const said = `hello ${web.place}`;
    expect([node.stdout.split('\n'), node.stderr.replace(warningOfWorkers, '')]).toEqual([
      [`fetch ${said}/fetch`, `get ${said}/get`, 'post 300000 bytes', 'events one two', `worker ${said}/worker`, ''],
      '',
    ]);
    const refused = await inside(
      ...trusted,
      'node',
      '-e',
      'fetch("https://evil.test/").catch(({ cause }) => console.log(cause.message))',
    );
    expect(refused.stdout).toMatch(/evil\.test:443/);
  });

  it('a managed policy turns off encrypted client hello in browsers', async () => {
    for (const name of ['chromium', 'opt/chrome', 'opt/chrome_for_testing'])
      expect(await carrel().ok('exec', box, '--', 'cat', `/etc/${name}/policies/managed/carrel.json`)).toBe(
        '{"EncryptedClientHelloEnabled":false}\n',
      );
  });

  it('node keeps its own NODE_OPTIONS, and node --test works', async () => {
    const limit = '--max-old-space-size=321';
    const script =
      'console.log(process.env.NODE_OPTIONS); fetch(process.argv[1]).then((answer) => console.log(answer.ok))';
    const own = await carrel().ok(
      'exec',
      '--env',
      `NODE_OPTIONS=${limit}`,
      '--env',
      'NODE_EXTRA_CA_CERTS=/tmp/ca.pem',
      box,
      '--',
      'node',
      '-e',
      script,
      `https://${web.place}/`,
    );
    expect(own).toMatch(new RegExp(`^--require=\\S+ ${limit}\ntrue\n$`));
    const suite = `import('node:test').then(({ test }) => test('x', () => {}))`;
    expect(
      await carrel().ok(
        'exec',
        box,
        '--',
        'sh',
        '-c',
        `echo "$1" > /tmp/x.test.mjs && node --test /tmp/x.test.mjs`,
        'sh',
        suite,
      ),
    ).toMatch(/pass 1/);
    expect((await inside('env', '-u', 'NODE_OPTIONS', 'node', '-e', 'fetch')).exitCode).toBe(0);
  });

  it('show prints the rules, and net explain names the rule or the command that allows a host', async () => {
    expect((await carrel().show(box)).network).toEqual({ allow: web.rules.split(','), ports: [], trouble: null });
    expect(await carrel().ok('show', box)).toMatch(new RegExp(`^network +${web.place}$`, 'm'));
    const explain = (asked: string) => carrel().json<ExplainView>('net', 'explain', box, asked);
    expect(await explain(web.place)).toMatchObject({ allowed: true, rule: web.place, addresses: ['127.0.0.1'] });
    expect(await explain('evil.test')).toMatchObject({
      allowed: false,
      asked: 'evil.test:443',
      refusal: 'not_allowed',
    });
    expect(await carrel().ok('net', 'explain', box, 'evil.test')).toContain(
      `hint: carrel net allow ${box} evil.test:443`,
    );
  });

  it('addresses of the host and hosts without a rule cannot be reached', async () => {
    const host = ownAddress();
    const [four, six, any] = others.map((server) => (server.address() as { port: number }).port) as [
      number,
      number,
      number,
    ];
    const targets = [
      `127.0.0.1:${four}`,
      `localhost:${four}`,
      `127.0.0.2:${any}`,
      `0.0.0.0:${any}`,
      `[::1]:${six}`,
      `[::]:${any}`,
      `[::ffff:127.0.0.1]:${four}`,
      `[::ffff:7f00:1]:${four}`,
      `127.1:${four}`,
      `0x7f000001:${four}`,
      `2130706433:${four}`,
      `${host}:${any}`,
      `${goodName}:${four}`,
      `user@${web.place}`,
      '169.254.169.254:80',
      '172.17.0.1:80',
      'metadata.google.internal:80',
      'secret-data.evil.test:443',
      'inner.test:443',
    ];
    visitors = 0;
    const found = await testbed.attack<Findings>(
      'network',
      {
        host,
        targets,
        names: ['localhost', '127.0.0.1', '169.254.169.254', 'evil.test', `${goodName}\0.evil.test`, '127.1'],
        port: four,
        tcp: [
          ['127.0.0.1', four],
          [host, any],
          ['169.254.169.254', 80],
          ['172.17.0.1', 80],
          ['8.8.8.8', 443],
        ],
        tcp6: [
          ['::1', six],
          ['2001:db8::1', 443],
          ['ff02::1', 80],
        ],
        paths: [join(carrel().home, 'network/control.sock'), join(carrel().home, 'carrel.sock')],
        good: web.place,
        flood: 300,
      },
      'exec',
      box,
    );
    expect(found.good).toMatch(/^HTTP\/1.1 200 /);
    expect(Object.entries(found.tunnels).filter(([, answer]) => !/^HTTP\/1.1 4/.test(answer))).toEqual([]);
    expect(Object.values(found.socks).filter((code) => code !== 1 && code !== 2)).toEqual([]);
    expect([found.lookup, ...Object.values(found.dns), found.multicast, found.broadcast]).not.toContain('ok');
    expect([found.raw, found.packet]).toEqual(['EPERM', expect.stringMatching(/^E(AFNOSUPPORT|PERM)$/)]);
    expect(found.ping).not.toBe('ok');
    expect([...Object.values(found.tcp), ...Object.values(found.tcp6)]).not.toContain('ok');
    expect([...new Set(Object.values(found.unix))]).toEqual(['ENOENT']);
    expect(found.taken).toEqual(['EADDRINUSE', 'EADDRINUSE', 'EADDRINUSE', 'EADDRINUSE']);
    expect(visitors).toBe(0);
    const refused = (await log()).filter(({ decision }) => decision === 'refuse').map(({ asked }) => asked);
    expect(refused).toEqual(
      expect.arrayContaining(['169.254.169.254:80', 'secret-data.evil.test:443', `[::1]:${six}`]),
    );
  });

  it('an allowed name that resolves to a loopback address is refused', async () => {
    const port = (others[0]!.address() as { port: number }).port;
    visitors = 0;
    await carrel().ok('net', 'allow', box, `rebound.test:${port}`);
    const { stdout } = await inside('curl', '-sS', `http://rebound.test:${port}/`);
    expect(stdout).toContain('127.0.0.1 is a loopback address, which has to be named exactly');
    await carrel().ok('net', 'deny', box, `rebound.test:${port}`);
    expect(visitors).toBe(0);
  });

  it('net deny closes open connections at once', async () => {
    const waiting = carrel().spawn([
      'exec',
      box,
      '--',
      'curl',
      '-sSN',
      '--cacert',
      '/tmp/ca.pem',
      `https://${web.place}/wait`,
    ]);
    const ended = new Promise((resolve) => waiting.once('exit', resolve));
    await new Promise((resolve) => waiting.stdout!.once('data', resolve));
    await carrel().ok('net', 'deny', box, web.place);
    expect(await ended).not.toBe(0);
    expect((await inside('curl', '-sS', '--cacert', '/tmp/ca.pem', `https://${web.place}/`)).exitCode).not.toBe(0);
    expect((await log()).map(({ reason }) => reason)).toContain('not allowed any more');
    await carrel().ok('net', 'allow', box, web.place);
    expect((await inside('curl', '-sS', '--cacert', '/tmp/ca.pem', `https://${web.place}/`)).exitCode).toBe(0);
  });

  it('net log records host, rule, bytes and duration of an attempt', async () => {
    // The end of an earlier attempt may still be recorded during the test.
    const earlier = new Set((await log()).map(({ attempt }) => attempt));
    const fresh = async () => (await log()).filter(({ attempt }) => !earlier.has(attempt));
    await inside('curl', '-sS', '--cacert', '/tmp/ca.pem', `https://${web.place}/recorded`);
    await until(async () => (await fresh()).length > 1, 'the record');
    expect(await fresh()).toMatchObject([
      { asked: web.place, decision: 'allow', rule: web.place },
      { receivedBytes: expect.any(Number), durationMs: expect.any(Number) },
    ]);
    expect(await carrel().ok('net', 'log', box)).toMatch(/^TIME +DECISION +HOST +VIA +RULE +SENT +RECEIVED +TOOK/);
  });

  it('net log -f shows attempts as they happen', async () => {
    const following = carrel().spawn(['--json', 'net', 'log', '-f', '--tail', '0', box]);
    const heard = gather(following.stdout!);
    const lines = () =>
      heard()
        .trim()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as LogLine);
    const ended = new Promise((resolve) => following.once('exit', resolve));
    // The command may begin to follow a moment after it was started.
    await until(async () => {
      await inside('curl', '-sS', 'http://followed.test/');
      return lines().length > 0;
    }, 'the first line');
    expect(lines()[0]).toMatchObject({ asked: 'followed.test:80', decision: 'refuse' });
    following.kill('SIGINT');
    expect(await ended).toBe(130);
  });

  it('the proxy and its connections outlive a killed daemon, and the next daemon adopts it', async () => {
    await inside(
      'sh',
      '-c',
      `(curl -sSN --cacert /tmp/ca.pem https://${web.place}/wait > /tmp/waited 2>&1; echo over >> /tmp/waited) > /dev/null 2>&1 &`,
    );
    await until(async () => (await inside('cat', '/tmp/waited')).stdout === 'begun\n', 'a connection');
    const pid = proxyPid(carrel().home)!;
    await carrel().killDaemon();
    expect(isRunning(pid)).toBe(true);
    expect((await inside('cat', '/tmp/waited')).stdout).toBe('begun\n');
    expect(proxyPid(carrel().home)).toBe(pid);
    expect((await inside('curl', '-sS', '--cacert', '/tmp/ca.pem', `https://${web.place}/`)).exitCode).toBe(0);
    expect((await inside('curl', '-sS', 'http://evil.test/')).stdout).toContain('no rule allows');
  });

  it('a killed proxy is started again with the same rules; only open connections break', async () => {
    const pid = proxyPid(carrel().home)!;
    process.kill(pid, 'SIGKILL');
    await until(async () => (await inside('cat', '/tmp/waited')).stdout.endsWith('over\n'), 'the connection to break');
    const again = () => inside('curl', '-sS', '--cacert', '/tmp/ca.pem', `https://${web.place}/`);
    await until(async () => (await again()).exitCode === 0, 'the network to come back');
    expect(proxyPid(carrel().home)).not.toBe(pid);
    expect((await inside('curl', '-sS', 'http://evil.test/')).stdout).toContain('no rule allows');
  });

  it('connections are refused while neither daemon nor proxy runs, and work again afterwards', async () => {
    const pid = proxyPid(carrel().home)!;
    const mark = `tries-${testbed.token}`;
    const tries = `while : ${mark}; do curl -s -o /dev/null --max-time 2 http://evil.test/; echo $? >> /tmp/tries; sleep 0.05; done`;
    await inside('sh', '-c', `(${tries}) > /dev/null 2>&1 &`);
    // Read from outside: a command that needs a daemon would start one.
    const tried = () => processesNaming(mark).map((one) => readOr(`/proc/${one}/root/tmp/tries`, ''));
    await until(() => tried().some((text) => text.split('\n').includes('0')), 'an answer');
    await carrel().killDaemon();
    process.kill(pid, 'SIGKILL');
    await until(() => !isRunning(pid), 'the proxy to be gone');
    await until(() => tried().some((text) => text.split('\n').includes('7')), 'a refusal');
    await until(
      async () => (await inside('curl', '-sS', '--cacert', '/tmp/ca.pem', `https://${web.place}/`)).exitCode === 0,
      'the network to come back',
    );
  });

  it('show and net explain report that a process inside took the proxy port, until the port is free', async () => {
    const take = `
import os, socket, time
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
while True:
    try:
        s.bind(('127.0.0.1', 17000))
        break
    except OSError: time.sleep(0.001)
s.listen()
print('taken', flush=True)
while not os.path.exists('/tmp/free'): time.sleep(0.05)`;
    const taking = carrel().spawn(['exec', box, '--', 'python3', '-c', take]);
    const taken = new Promise((resolve) => taking.stdout!.once('data', resolve));
    // The test kills the proxy until the agent has the port.
    const kill = setInterval(() => killProxy(carrel().home), 300);
    await taken;
    clearInterval(kill);
    const trouble = 'port 17000 is in use inside the sandbox';
    await until(async () => (await carrel().show(box)).network.trouble === trouble, 'the trouble to be shown');
    expect(await carrel().ok('show', box)).toContain(trouble);
    expect(await carrel().ok('net', 'explain', box, web.place)).toContain(`${trouble}, so the port is not open`);
    await inside('touch', '/tmp/free');
    const ask = () => inside('curl', '-sS', '--cacert', '/tmp/ca.pem', `https://${web.place}/`);
    await until(async () => (await ask()).exitCode === 0, 'the network to come back');
    await until(async () => (await carrel().show(box)).network.trouble === null, 'the trouble to be over');
  });
}

/** Only for engines that can limit processors: the flood must slow the other sandbox by its connections alone. */
export function flood(way: Way): void {
  const seconds = 4;
  let testbed: Testbed;
  beforeAll(async () => {
    testbed = await Testbed.open(way, { [goodName]: '127.0.0.1' });
    for (const name of ['quiet', 'loud'])
      await testbed.carrel.ok('create', '--name', name, '--cpus', '0.5', '--network', web.rules);
  }, 120_000);
  afterAll(() => testbed.dispose(), 60_000);

  it('is limited in rate, and another sandbox gets its answers in time', async () => {
    const { carrel } = testbed;
    const program = readFileSync('test/fixtures/flood.py', 'utf8');
    const flood = carrel.spawn(['exec', 'loud', '--', '/usr/bin/python3', '-c', program, String(seconds)]);
    const over = new Promise((resolve) => flood.once('exit', resolve));
    const tookSeconds = await medianAnswer(carrel);
    await over;
    // On a busy machine answers take long even without a flood.
    if (tookSeconds > 0.5) expect(tookSeconds).toBeLessThan(0.5 + 3 * (await medianAnswer(carrel)));
    const record = (await carrel.ok('--json', 'net', 'log', 'loud')).trim().split('\n');
    expect(record.length).toBeGreaterThan(10);
    // The burst plus the allowed rate per second, with one second more for the start and the end.
    expect(record.length).toBeLessThan(1500 + 400 * (secondsOf(record) + 1));
  });
}

/** The median seconds until an answer for the sandbox `quiet`. */
async function medianAnswer(carrel: Installation): Promise<number> {
  const times = 'for i in $(seq 20); do curl -sk -o /dev/null -w "%{http_code} %{time_total}\\n" "$1"; done';
  const printed = await carrel.ok('exec', 'quiet', '--', 'sh', '-c', times, 'sh', `https://${web.place}/`);
  const lines = printed.trim().split('\n');
  for (const line of lines) expect(line).toMatch(/^200 /);
  return lines.map((line) => Number(line.split(' ')[1])).sort((a, b) => a - b)[10]!;
}

function secondsOf(record: readonly string[]): number {
  const [first, last] = [record[0]!, record.at(-1)!].map((line) => Date.parse((JSON.parse(line) as { at: string }).at));
  return (last! - first!) / 1000;
}

export function usedUp(): void {
  it('is refused, explain gives the reason, and a start does not change it', async () => {
    const carrel = new Installation();
    carrel.write('home/config.yaml', 'network: {limits: {total: 2k}}\n');
    await carrel.ok('create', '--name', box, '--network', web.rules);
    const url = `https://127.0.0.1:${web.port}/`;
    const ask = () =>
      carrel.run(['exec', box, '--', 'sh', '-c', 'curl -sSk --noproxy "" -x "$HTTPS_PROXY" "$1"', 'sh', url]);
    await until(async () => (await ask()).stderr.includes('response 429'), 'the end of what may pass');
    await carrel.ok('stop', '--grace', '0', box);
    await carrel.ok('start', box);
    expect((await ask()).stderr).toContain('response 429');
    const explained = await carrel.json<ExplainView>('net', 'explain', box, `127.0.0.1:${web.port}`);
    expect(explained).toMatchObject({ allowed: false, refusal: 'limit' });
    await carrel.dispose();
  });
}

/** What Node does without carrel's help, even an old one that knows nothing of proxies. */
/** Node 22 warns in each worker before anything of ours is loaded. */
const warningOfWorkers = /^\(node:\d+\) \[UNDICI-EHPA\] .*\n\(Use `node --trace-warnings .*\n/m;

const nodeScript = `
import { get } from 'node:https';
import { Worker } from 'node:worker_threads';
const url = process.argv[1];
const say = (what, answer) => console.log(what, answer.trim());
say('fetch', await (await fetch(url + '/fetch')).text());
say('get', await new Promise((resolve) => get(url + '/get', (answer) => answer.setEncoding('utf8').once('data', resolve))));
const body = new ReadableStream({
  async start(stream) {
    for (let count = 0; count < 3; count++) {
      stream.enqueue(new Uint8Array(100_000));
      await new Promise(setImmediate);
    }
    stream.close();
  },
});
say('post', await (await fetch(url + '/count', { method: 'POST', duplex: 'half', body })).text());
// The second event is sent when the first was heard.
const events = [];
for await (const chunk of (await fetch(url + '/events')).body) {
  events.push(Buffer.from(chunk).toString().trim());
  if (events.length === 1) await fetch(url + '/heard');
}
say('events', events.join(' '));
const ask = \`fetch('\${url}/worker').then((answer) => answer.text()).then((text) => require('node:worker_threads').parentPort.postMessage(text))\`;
say('worker', await new Promise((resolve) => new Worker(ask, { eval: true, execArgv: [] }).once('message', resolve)));
`;

interface Findings {
  readonly good: string;
  readonly lookup: string;
  readonly dns: Readonly<Record<string, string>>;
  readonly multicast: string;
  readonly broadcast: string;
  readonly ping: string;
  readonly raw: string;
  readonly packet: string;
  readonly tcp: Readonly<Record<string, string>>;
  readonly tcp6: Readonly<Record<string, string>>;
  readonly unix: Readonly<Record<string, string>>;
  readonly tunnels: Readonly<Record<string, string>>;
  readonly socks: Readonly<Record<string, number>>;
  readonly taken: readonly string[];
}

function listen(options: object): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      visitors += 1;
      socket.destroy();
    });
    server.once('error', reject);
    server.listen(options, () => resolve(server));
  });
}

function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '192.0.2.1';
}
