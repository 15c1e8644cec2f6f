/** Other programs verify the certificates that Carrel issues. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/lib/process/run.ts';
import { parseHost } from '../../src/model/host.ts';
import {
  authorityCertificate,
  leafCertificate,
  newAuthorityKey,
} from '../../src/noun/network/credential/certificate.ts';
import { Forwarding, host, issuer, real } from '../fixtures/forwarding.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-certificate-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function keep(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe('openssl', () => {
  const signer = { key: newAuthorityKey(), name: 'Carrel for 0123456789abcdef' };

  async function verdict(trusted: readonly string[], name: string): Promise<boolean> {
    const authority = keep('ca.pem', authorityCertificate(signer, trusted.map(parseHost), Date.now()));
    const leaf = keep('leaf.pem', leafCertificate(signer, parseHost(name), Date.now()).certificate);
    const purpose = ['-x509_strict', '-purpose', 'sslserver', '-CAfile', authority];
    return (await run(['openssl', 'verify', ...purpose, leaf])).exitCode === 0;
  }

  it.each([
    [
      ['api.example.org', 'github.com'],
      ['api.example.org', 'github.com'],
    ],
    [
      ['127.0.0.1', '::1', '2001:db8::1:0:0:1'],
      ['127.0.0.1', '::1', '2001:db8::1:0:0:1'],
    ],
    [
      ['api.example.org', '10.0.0.1'],
      ['api.example.org', '10.0.0.1'],
    ],
  ])('trusts an authority for %j for those names alone, with strict checks', async (trusted, believed) => {
    const all = ['api.example.org', 'github.com', 'xgithub.com', 'example.org', '127.0.0.1', '10.0.0.1', '::1'];
    for (const name of [...new Set([...all, ...believed])])
      expect([name, await verdict(trusted, name)]).toEqual([name, believed.includes(name)]);
  });
});

describe('called by its own name, a service gets the header from', () => {
  let to: Forwarding;
  let authority: string;

  beforeAll(async () => {
    to = await Forwarding.open();
    await to.reopenByName();
    to.answer = (_, response) => void response.writeHead(404).end('no repository here');
    authority = keep('trusted.pem', authorityCertificate(issuer, [parseHost(host)], Date.now()));
  });
  afterAll(() => to.dispose());

  const python = `
import http.client, socket, ssl, sys
context = ssl.create_default_context(cafile=sys.argv[1])
context.verify_flags |= ssl.VERIFY_X509_STRICT
connection = http.client.HTTPSConnection(f'{sys.argv[2]}:{sys.argv[3]}', context=context)
connection.sock = context.wrap_socket(socket.create_connection(('127.0.0.1', int(sys.argv[3]))), server_hostname=sys.argv[2])
connection.request('GET', '/python', headers={'Authorization': 'mine', 'User-Agent': 'python'})
sys.exit(connection.getresponse().status != 404)`;

  it.each(['curl', 'python3', 'git'])('%s', async (name) => {
    const { stderr } = await run(clients[name]!(String(to.port)));
    expect([to.received.at(-1)?.request.headers, stderr]).toEqual([
      expect.objectContaining({ authorization: real, 'user-agent': expect.stringContaining(name.slice(0, 3)) }),
      expect.not.stringMatching(/certificate|SSL/i),
    ]);
  });

  const clients: Record<string, (port: string) => [string, ...string[]]> = {
    curl: (port) =>
      [
        ...['curl', '-sS', '--cacert', authority, '--resolve', `${host}:${port}:127.0.0.1`],
        ...['-H', 'authorization: mine', `https://${host}:${port}/`],
      ] as never,
    python3: (port) => ['python3', '-c', python, authority, host, port],
    // Some systems build git with GnuTLS.
    git: (port) =>
      [
        ...['env', `GIT_SSL_CAINFO=${authority}`, 'git', '-c', `http.curloptResolve=${host}:${port}:127.0.0.1`],
        ...['ls-remote', `https://${host}:${port}/x`],
      ] as never,
  };
});
