/**
 * The port of a real daemon: clients over HTTP and WebSocket, a daemon that ends or is killed under them, and refused
 * starts.
 */
import { execFile, execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer, WebSocketTransport } from '../fixtures/mcp-port.ts';
import { Installation } from '../harness/installation.ts';

const packages = resolve('test/clients/node_modules');
let carrel: Installation;
let token: string;

beforeAll(async () => {
  carrel = new Installation();
  await carrel.ok('up', '-d', '--port', '0');
  for (const name of ['shop', 'store']) {
    const folder = carrel.folder(name);
    writeFileSync(join(folder, 'name'), `${name}\n`);
    await carrel.ok('project', 'add', folder);
  }
  token = (await carrel.ok('hub', 'token', '--project', 'shop')).trim();
});
afterAll(() => carrel.dispose());

async function address(): Promise<string> {
  return (await carrel.json<{ mcp: string }>('status')).mcp;
}

async function connect(transport: string, modern: boolean): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, modern ? { versionNegotiation: { mode: 'auto' } } : {});
  const url = await address();
  const requestInit = { headers: bearer(token) };
  const http = () => new StreamableHTTPClientTransport(new URL(url), { requestInit });
  await client.connect(transport === 'HTTP' ? http() : new WebSocketTransport(url, token));
  return client;
}

const read = (project: string) => ({ name: 'read_file', arguments: { project, path: 'name' } });

describe.each([
  ['HTTP', false],
  ['HTTP', true],
  ['WebSocket', false],
  ['WebSocket', true],
])('over %s, newest revision: %s', (transport, modern) => {
  it('reads files of the projects that the token names, and of no other one', async () => {
    const client = await connect(transport, modern);
    expect(await client.callTool(read('shop'))).toMatchObject({ structuredContent: { content: 'shop\n' } });
    expect(await client.callTool(read('store'))).toMatchObject({
      isError: true,
      _meta: { fault: { code: 'not_found' } },
    });
    const { structuredContent } = await client.callTool({ name: 'list_projects', arguments: {} });
    expect(structuredContent).toMatchObject({ projects: [{ id: 'shop' }] });
    await client.close();
  });
});

it('the Inspector of MCP lists and calls tools', async () => {
  const node = join(packages, `node-linux-${process.arch}`, 'bin/node');
  const inspector = join(packages, '.bin/mcp-inspector');
  const common = [inspector, '--cli', await address(), '--header', `Authorization: Bearer ${token}`];
  const over = async (transport: string, ...args: string[]) => {
    const env = { ...process.env, HOME: carrel.home, PATH: `${join(node, '..')}:${process.env.PATH}` };
    const { stdout } = await promisify(execFile)(node, [...common, '--transport', transport, ...args], { env });
    return JSON.parse(stdout);
  };
  const ask = (...args: string[]) => over('http', ...args);
  const { tools } = await ask('--method', 'tools/list');
  expect(tools.map(({ name }: { name: string }) => name)).toContain('read_file');
  const called = await ask(
    '--method',
    'tools/call',
    '--tool-name',
    'read_file',
    '--tool-arg',
    'project=shop',
    'path=name',
  );
  expect(called.structuredContent).toMatchObject({ content: 'shop\n' });
  // The Inspector has no WebSocket; the official client and claude test that one.
  await expect(over('ws', '--method', 'tools/list')).rejects.toThrow(/Valid types are: sse, http, stdio/);
});

it('status and up show the address, and up says that another port needs a restart', async () => {
  const url = await address();
  expect(await carrel.ok('status')).toContain(url);
  expect(await carrel.ok('up', '-d', '--port', new URL(url).port)).toContain(url);
  expect(await carrel.run(['up', '-d', '--port', '1'])).toMatchObject({
    exitCode: 6,
    stderr: expect.stringMatching(/already running, and listens at .*\n.*carrel down/),
  });
  expect(await carrel.run(['up', '-d', '--port', '70000'])).toMatchObject({ exitCode: 2 });
});

it('down ends open connections and running calls promptly', async () => {
  const [http, socket] = await Promise.all([connect('HTTP', false), connect('WebSocket', true)]);
  const closed = new Promise<void>((resolve) => {
    socket.onclose = resolve;
  });
  let started = () => {};
  const running = new Promise<void>((resolve) => {
    started = resolve;
  });
  const command = ['sh', '-c', 'echo started; exec sleep 100'];
  const call = http.callTool(
    { name: 'run_command', arguments: { project: 'shop', command } },
    { onprogress: () => started() },
  );
  const refused = expect(call).rejects.toThrow();
  await running;
  await carrel.ok('down');
  await closed;
  await http.close();
  await refused;
  await carrel.ok('up', '-d', '--port', '0');
});

it('clients of a daemon that was killed get an error, and connect to the next one with the same token', async () => {
  const socket = await connect('WebSocket', true);
  const closed = new Promise<void>((resolve) => {
    socket.onclose = resolve;
  });
  await carrel.killDaemon();
  await closed;
  await carrel.ok('up', '-d', '--port', '0');
  const client = await connect('HTTP', true);
  expect(await client.callTool(read('shop'))).toMatchObject({ structuredContent: { content: 'shop\n' } });
  await client.close();
});

describe('the start of a daemon', () => {
  let other: Installation;
  let taken: Server;
  let port: number;

  beforeAll(async () => {
    other = new Installation();
    taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    port = (taken.address() as { port: number }).port;
  });
  afterAll(async () => {
    taken.close();
    await other.dispose();
  });

  it('fails if another program listens on the port', async () => {
    for (const args of [['up', '-d'], ['up']])
      expect(await other.run([...args, '--port', `${port}`])).toMatchObject({
        exitCode: 75,
        stderr: expect.stringMatching(new RegExp(`another program listens on 127.0.0.1:${port}\n +hint: .*--port`)),
      });
    expect(await other.json('status')).toEqual({ running: false });
  });

  it('is preceded by warnings of doctor about a taken port and missing TLS', async () => {
    await other.ok('ls');
    other.write('home/config.yaml', `http: {port: ${port}}\n`);
    const rows = JSON.parse((await other.run(['--json', 'doctor'])).stdout) as { name: string }[];
    expect(rows.find(({ name }) => name === 'mcp-port')).toMatchObject({
      level: 'warning',
      detail: `off; another program listens on 127.0.0.1:${port}`,
      hint: expect.stringContaining('--port'),
    });
    other.write('home/config.yaml', 'http: {address: 0.0.0.0}\n');
    expect(await other.run(['doctor'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('http.tls is required'),
    });
    await other.ok('down');
  });

  it('fails without TLS if other machines reach the address', async () => {
    other.write('home/config.yaml', 'http: {address: 0.0.0.0, port: 0}\n');
    expect(await other.run(['ls'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('http.tls is required'),
    });
    expect(await other.json('status')).toEqual({ running: false });
  });

  it('with a certificate serves HTTPS under the names of the certificate', async () => {
    const [cert, key] = [join(other.home, 'cert.pem'), join(other.home, 'key.pem')];
    const subject = ['-subj', '/CN=hub.example', '-addext', 'subjectAltName=DNS:hub.example,IP:127.0.0.1'];
    const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', ...subject];
    execFileSync('openssl', [...made, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    other.write('home/config.yaml', `http: {address: 0.0.0.0, port: 0, tls: {cert: ${cert}, key: ${key}}}\n`);
    await other.ok('ls');
    const { mcp } = await other.json<{ mcp: string }>('status');
    const { port } = new URL(mcp);
    const ask = async (host: string) => {
      const place = ['--cacert', cert, '--connect-to', `${host}:${port}:127.0.0.1:${port}`];
      const { stdout } = await promisify(execFile)('curl', ['-s', ...place, `https://${host}:${port}/health`]);
      return JSON.parse(stdout);
    };
    expect(await ask('hub.example')).toMatchObject({ status: 'ok' });
    const evil = ['-sk', '-H', 'Host: evil.example', `https://127.0.0.1:${port}/health`];
    const { stdout } = await promisify(execFile)('curl', evil);
    expect(JSON.parse(stdout)).toMatchObject({ code: 'denied' });
  });
});
