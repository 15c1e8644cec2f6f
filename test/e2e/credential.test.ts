/** Keys that are added outside: what agents reach with them, and that nothing of them is inside. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ScriptedModel } from '../fixtures/scripted-model.ts';
import { Service, TestAuthority } from '../fixtures/service.ts';
import { goodName, packageName, Web } from '../fixtures/web.ts';
import { Canary } from '../harness/canary.ts';
import { createHosts } from '../harness/hosts.ts';
import { gather, Installation, isRunning, until } from '../harness/installation.ts';
import { killProxy, proxyPid } from '../harness/proxy.ts';

const values = [`key-${randomBytes(20).toString('hex')}`, `key-${randomBytes(20).toString('hex')}`] as const;
const authority = new TestAuthority('127.0.0.1');
/** Rules that open a port of this machine: a rule for a loopback address applies only to names that resolve to it. */
const near = (port: number) => `near.test:${port},127.0.0.1:${port}`;
const claude = resolve('node_modules/@anthropic-ai/claude-code');

let carrel: Installation;
let service: Service;
let other: Service;
let received: IncomingMessage[];
let elsewhere: IncomingMessage[];
let answer: (request: IncomingMessage, response: ServerResponse) => void;

beforeAll(async () => {
  service = await Service.open(authority.tls('127.0.0.1'), (request, response) => {
    received.push(request);
    answer(request, response);
  });
  other = await Service.open(authority.tls('127.0.0.1'), (request, response) => {
    elsewhere.push(request);
    response.end('from elsewhere');
  });
  carrel = new Installation();
  writeFileSync(join(carrel.home, 'ca.pem'), authority.certificate);
  writeFileSync(join(carrel.home, 'config.yaml'), `authorities: [${join(carrel.home, 'ca.pem')}]\n`);
  await keep(values[0]);
  await add('api', ['--preset', 'anthropic', '--host', `127.0.0.1:${service.port}`]);
  const network = ['--network', near(other.port)];
  await carrel.ok('create', '--name', 'box', '--credential', 'api', ...network);
});
afterAll(async () => {
  await carrel.dispose();
  await service.dispose();
  await other.dispose();
});
beforeEach(() => {
  [received, elsewhere] = [[], []];
  answer = (_, response) => void response.end('hello');
});

async function keep(value: string): Promise<void> {
  const { exitCode, stderr } = await carrel.run(['secret', 'set', 'KEY'], { input: value });
  if (exitCode !== 0) throw new Error(stderr);
}

function add(name: string, options: readonly string[]): Promise<string> {
  return carrel.ok('credential', 'add', name, '--secret', 'KEY', ...options);
}

function inside(...command: string[]): Promise<string> {
  return carrel.ok('exec', 'box', '--', ...command);
}

function shell(script: string): Promise<string> {
  return inside('sh', '-c', script);
}

const keysSeen = () => received.map(({ headers }) => headers['x-api-key']);

describe('a gateway', () => {
  it('without TLS gets the key only at the base URL', async () => {
    const model = await ScriptedModel.open([], { wants: { header: 'x-api-key', value: values[0] } });
    const place = `127.0.0.1:${model.port}`;
    const added = await carrel.run([
      ...['credential', 'add', 'gateway', '--secret', 'KEY', '--preset', 'anthropic', '--host', `http://${place}`],
    ]);
    expect(added).toMatchObject({
      stdout: 'gateway\n',
      stderr: `carrel: the key goes to ${place} without encryption\n`,
    });
    expect(await carrel.ok('credential', 'ls')).toMatch(new RegExp(`^gateway +http://${place} `, 'm'));
    const count = '/v1/messages/count_tokens -d "{}"';
    const script = `curl -sS "$ANTHROPIC_BASE_URL"${count}; echo; curl -sS --noproxy "" http://${place}${count}`;
    const inside = await carrel.ok('run', '--rm', '--credential', 'gateway', '--', 'sh', '-c', script);
    expect(inside).toMatch(/^\{"input_tokens":1\}\n.*no rule allows/);
    expect(model.requests).toHaveLength(1);
    await model.dispose();
  });

  it('whose certificate is not trusted gets no key, and the answer names authorities', async () => {
    const stranger = await Service.open(new TestAuthority('127.0.0.1').tls('127.0.0.1'), (request, response) => {
      received.push(request);
      response.end();
    });
    await add('stranger', ['--preset', 'openai', '--host', `127.0.0.1:${stranger.port}`]);
    const ask = ['sh', '-c', 'curl -sS "$OPENAI_BASE_URL/models"'];
    expect(await carrel.ok('run', '--rm', '--credential', 'stranger', '--', ...ask)).toMatch(
      /no trusted connection to 127\.0\.0\.1: \w+\. hint: .*`authorities:` in config\.yaml/,
    );
    expect(received).toEqual([]);
    await stranger.dispose();
  });
});

describe('at the base URL', () => {
  it('a request of curl gets the real key in place of its own', async () => {
    expect(await shell('curl -sS -H "X-Api-Key: mine" "$ANTHROPIC_BASE_URL/v1/x?y" -d body')).toBe('hello');
    expect(received[0]).toMatchObject({ method: 'POST', url: '/v1/x?y' });
    expect(keysSeen()).toEqual([values[0]]);
    expect(received[0]!.headers.host).toBe(`127.0.0.1:${service.port}`);
  });

  it('a request of fetch in Node gets the real key', async () => {
    const script = `fetch(process.env.ANTHROPIC_BASE_URL + '/v1/y', { headers: { 'x-api-key': process.env.ANTHROPIC_API_KEY } })
      .then((response) => response.text()).then(console.log)`;
    expect(await inside('node', '-e', script)).toBe('hello\n');
    expect(keysSeen()).toEqual([values[0]]);
  });

  it('events arrive as soon as they are sent', async () => {
    let stream!: ServerResponse;
    answer = (_, response) => {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      stream.flushHeaders();
    };
    const curl = carrel.spawn(['exec', 'box', '--', 'sh', '-c', 'curl -sSN "$ANTHROPIC_BASE_URL"']);
    const seen = gather(curl.stdout!);
    await until(() => received.length === 1, 'the request');
    for (const event of ['data: one\n\n', 'data: two\n\n']) {
      stream.write(event);
      await until(() => seen().endsWith(event), event);
    }
    stream.end();
    await once(curl, 'exit');
  });

  it('a redirect to another host leads there without the key', async () => {
    answer = (_, response) =>
      void response.writeHead(307, { location: `https://127.0.0.1:${other.port}/stolen` }).end();
    const follow =
      'curl -sSkL --noproxy "" --proxy "$HTTPS_PROXY" --location-trusted -H "x-api-key: $ANTHROPIC_API_KEY"';
    // The proxy is for the second host; the base URL needs none.
    const script = `url=$(curl -sS -o /dev/null -w '%{redirect_url}' "$ANTHROPIC_BASE_URL"); ${follow} "$url"`;
    expect(await shell(script)).toBe('from elsewhere');
    expect([keysSeen(), elsewhere[0]!.headers['x-api-key']]).toEqual([[values[0]], 'sk-ant-carrel-placeholder']);
  });
});

describe('by its real name, through the proxy', () => {
  const proxied = 'curl -sS --noproxy "" --proxy "$HTTPS_PROXY"';

  it('the service gets the key over a connection that the sandbox trusts', async () => {
    expect(await shell(`${proxied} -H 'x-api-key: mine' https://127.0.0.1:${service.port}/v1/z`)).toBe('hello');
    expect([received[0]!.url, ...keysSeen()]).toEqual(['/v1/z', values[0]]);
  });

  it('the service gets the key from Python, git, and a tool with its own certificate bundle', async () => {
    const python = `import os, urllib.request as r
p = r.ProxyHandler({'https': os.environ['HTTPS_PROXY']})
print(r.build_opener(p).open('https://127.0.0.1:${service.port}/py').read().decode())`;
    expect(
      await carrel.ok('exec', '--env', 'no_proxy=', '--env', 'NO_PROXY=', 'box', '--', 'python3', '-c', python),
    ).toBe('hello\n');
    const git = `git -c http.proxy="$HTTPS_PROXY" ls-remote https://127.0.0.1:${service.port}/r 2>&1`;
    expect(
      await carrel.ok('exec', '--env', 'no_proxy=', '--env', 'NO_PROXY=', 'box', '--', 'sh', '-c', `${git}; true`),
    ).not.toMatch(/certificate/);
    expect(new Set(keysSeen())).toEqual(new Set([values[0]]));
    expect(received.map(({ url }) => url!.split('?')[0])).toEqual(expect.arrayContaining(['/py', '/r/info/refs']));
  });

  it('the service gets the key from fetch in Node', async () => {
    const script = `fetch('https://127.0.0.1:${service.port}/y').then((answer) => answer.text()).then(console.log)`;
    const near = ['--env', 'no_proxy=', '--env', 'NO_PROXY='];
    expect(await carrel.ok('exec', ...near, 'box', '--', 'node', '-e', script)).toBe('hello\n');
    expect([received[0]!.url, ...keysSeen()]).toEqual(['/y', values[0]]);
  });

  it('TLS to another host is not intercepted, and gets no key', async () => {
    const url = `https://127.0.0.1:${other.port}/`;
    expect(await carrel.run(['exec', 'box', '--', 'sh', '-c', `${proxied} ${url}`])).toMatchObject({ exitCode: 60 });
    expect(await shell(`${proxied} -k -w '%{ssl_verify_result}' ${url}`)).toMatch(/^from elsewhere/);
    expect(await shell(`${proxied} -kv ${url} 2>&1 | grep issuer`)).toContain('CN=Tests');
    expect(elsewhere.map(({ headers }) => headers['x-api-key'])).toEqual([undefined, undefined]);
  });

  it('a sandbox without the credential neither trusts the authority nor reaches the base URL', async () => {
    await carrel.ok('create', '--name', 'bare', '--network', near(service.port));
    const ask = (more: string) =>
      carrel.run(['exec', 'bare', '--', 'sh', '-c', `${proxied} ${more} https://127.0.0.1:${service.port}/`]);
    expect(await ask('')).toMatchObject({ exitCode: 60 });
    expect(await ask('-k')).toMatchObject({ exitCode: 0 });
    expect(keysSeen()).toEqual([undefined]);
    const { exitCode } = await carrel.run(['exec', 'bare', '--', 'curl', '-sS', 'http://127.0.0.1:17100/']);
    expect(exitCode).toBe(7);
    await carrel.ok('rm', '--force', 'bare');
  });
});

describe('a registry', () => {
  it('is used by npm by its name, and gets the key', async () => {
    const web = await Web.open();
    const hosts = createHosts({ [goodName]: '127.0.0.1' });
    const named = new Installation(hosts.around(null));
    const certificate = join(named.folder('trusted'), 'ca.pem');
    writeFileSync(certificate, web.authority.certificate);
    writeFileSync(join(named.home, 'config.yaml'), `authorities: [${certificate}]\n`);
    await named.run(['secret', 'set', 'KEY'], { input: values[0] });
    await named.ok('credential', 'add', 'npm', '--preset', 'npm', '--host', web.place, '--secret', 'KEY');
    await named.ok('create', '--name', 'box', '--credential', 'npm', '--network', near(web.port));
    const view = ['npm', 'view', '--fetch-retries=0', '--registry', `https://${web.place}/`, packageName, 'version'];
    expect(await named.ok('exec', 'box', '--', ...view)).toBe('1.0.0\n');
    expect(web.authorizations).toContain(`Bearer ${values[0]}`);
    await named.dispose();
    hosts.dispose();
    await web.dispose();
  });
});

describe('what cannot be a credential', () => {
  it.each([
    [2, ['add', 'x']],
    [2, ['add', 'x', '--secret', 'KEY']],
    [2, ['add', 'x', '--secret', 'KEY', '--host', 'https://a.org/x', '--header', 'x']],
    [2, ['add', 'x', '--secret', 'KEY', '--host', 'a.org', '--header', 'host']],
    [2, ['add', 'x', '--secret', 'KEY', '--preset', 'openai', '--format', 'Bearer']],
    [5, ['add', 'x', '--secret', 'NONE', '--preset', 'openai']],
    [6, ['add', 'api', '--secret', 'KEY', '--preset', 'openai']],
    [6, ['rm', 'api']],
    [5, ['rm', 'unknown']],
  ])('is refused with %i: %j', async (code, args) => {
    const { exitCode, stdout, stderr } = await carrel.run(['credential', ...args]);
    expect([exitCode, stdout, stderr]).toEqual([code, '', expect.stringMatching(/^carrel: .+\n {2}hint: .+/)]);
  });
});

describe('claude', () => {
  it('works on a file with a key that it never had', async () => {
    const model = await ScriptedModel.open(
      [
        [{ text: 'On it.' }, { tool: 'Bash', input: { command: 'echo hello > out.txt', description: 'write' } }],
        [{ text: 'It is written.' }],
      ],
      { tls: authority.tls('127.0.0.1'), wants: { header: 'x-api-key', value: values[0] } },
    );
    await add('claude', ['--preset', 'anthropic', '--host', `127.0.0.1:${model.port}`]);
    const command = ['node', '/workspace/cli.js', '-p', 'write out.txt', '--dangerously-skip-permissions'];
    const args = ['run', '--name', 'agent', '--credential', 'claude', claude, '--', ...command];
    const { exitCode, stdout, stderr } = await carrel.run(args, { timeoutMs: 50_000 });
    expect([exitCode, stdout.trim(), stderr]).toEqual([0, 'It is written.', '']);
    expect(await carrel.ok('diff', 'agent')).toContain('+hello');
    const asked = model.requests.filter(({ question }) => question !== null);
    expect(asked.length).toBeGreaterThanOrEqual(2);
    expect(new Set(asked.map(({ headers }) => headers['x-api-key']))).toEqual(new Set([values[0]]));
    await carrel.ok('rm', '--force', 'agent');
    await model.dispose();
  });
});

describe('the key', () => {
  /** Sends requests in a loop, over one connection. */
  const loop = `
    const { request, Agent } = require('node:http');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = () => {
      const asked = request(process.env.ANTHROPIC_BASE_URL, { agent }, (response) => response.resume().on('close', again));
      asked.on('error', again).end();
    };
    const again = () => setTimeout(ask, 50);
    ask();`;

  /** The key of the next request that arrives. */
  async function next(): Promise<string | string[] | undefined> {
    const before = received.length;
    await until(() => received.length > before, 'a request');
    return received[before]!.headers['x-api-key'];
  }

  beforeAll(async () => {
    received = [];
    await carrel.ok('create', '--name', 'busy', '--credential', 'api', '--', 'node', '-e', loop);
  });

  it('has its new value in requests on a connection that is open', async () => {
    expect(await next()).toBe(values[0]);
    const { remotePort } = received.at(-1)!.socket;
    await keep(values[1]);
    // A request that was under way meanwhile may have either value.
    await next();
    expect(await next()).toBe(values[1]);
    expect(received.at(-1)!.socket.remotePort).toBe(remotePort);
    expect((await carrel.run(['secret', 'set', 'KEY'], { input: 'two\nlines' })).exitCode).toBe(2);
    expect(await next()).toBe(values[1]);
  });

  it('is added while no daemon runs, and again after the proxy was restarted', async () => {
    await carrel.killDaemon();
    expect(await next()).toBe(values[1]);
    const proxy = killProxy(carrel.home)!;
    await until(() => !isRunning(proxy), 'the proxy to be gone');
    received.length = 0;
    await carrel.ok('ls');
    expect(await next()).toBe(values[1]);
    expect(new Set(keysSeen())).toEqual(new Set([values[1]]));
    expect(proxyPid(carrel.home)).not.toBe(proxy);
    await carrel.ok('rm', '--force', 'busy');
  });

  it('is not in the sandbox, not in any output, not in other files and not in any process', async () => {
    const canary = new Canary(...values);
    expect(canary.isIn(await shell('echo "$ANTHROPIC_API_KEY"; curl -sS "$ANTHROPIC_BASE_URL"'))).toBe(false);
    expect(keysSeen()).toEqual([values[1]]);
    const places = '-path /usr -prune -o -path /proc -prune -o -path /sys -prune -o -path /dev -prune -o -type f';
    const everything = `cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline /proc/[0-9]*/mountinfo /proc/net/* 2>/dev/null
      find / ${places} -exec cat {} + 2>/dev/null; env; true`;
    const seen = await shell(everything);
    expect(seen).toContain('ANTHROPIC_BASE_URL=http://127.0.0.1:17100');
    expect(seen).toContain('BEGIN CERTIFICATE');
    expect([canary.isIn(seen), seen.includes('PRIVATE KEY')]).toEqual([false, false]);

    const told: string[] = [];
    for (const args of [
      ['show', 'box'],
      ['ls'],
      ['logs', 'box'],
      ['events', '--after', '0'],
      ['audit'],
      ['credential', 'ls'],
      ['secret', 'ls'],
      ['snapshot', 'box'],
      ['fork', 'box', 'fork'],
      ['volume', 'backup', 'home'],
      ['net', 'log', 'box'],
      ['net', 'explain', 'box', `127.0.0.1:${service.port}`],
    ]) {
      const { exitCode, stdout, stderr } = await carrel.run(['--json', ...args]);
      expect([args, exitCode, stderr]).toEqual([args, 0, '']);
      told.push(stdout);
    }
    expect(told.filter((text) => canary.isIn(text))).toEqual([]);
    expect(told.join()).toContain(`127.0.0.1:${service.port}`);
    expect(canary.filesBelow(carrel.home)).toEqual([expect.stringMatching(/\/users\/[0-9a-f]{8}\/secrets\/KEY$/)]);
    expect(canary.processes()).toEqual([]);
  });
});
