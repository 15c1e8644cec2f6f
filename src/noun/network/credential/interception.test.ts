import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Forwarding, host, issuer, real } from '../../../../test/fixtures/forwarding.ts';
import { parseHost } from '../../../model/host.ts';
import { authorityCertificate } from './certificate.ts';

let to: Forwarding;

beforeEach(async () => {
  to = await Forwarding.open();
});
afterEach(() => to.dispose());

describe('a host that a client calls by its own name', () => {
  const trusted = authorityCertificate(issuer, [parseHost(host)], Date.now());

  async function ask(bytes: string, servername = host): Promise<string> {
    const socket = connectTls({
      port: to.port,
      host: '127.0.0.1',
      servername,
      ca: trusted,
      checkServerIdentity: () => undefined,
    });
    socket.write(bytes);
    return text(socket);
  }

  beforeEach(() => to.reopen({}, true));

  it('the service gets the header, and the client a certificate that its sandbox trusts', async () => {
    const socket = connectTls({
      port: to.port,
      host: '127.0.0.1',
      servername: host,
      ca: trusted,
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    await once(socket, 'secureConnect');
    expect([socket.authorized, (socket as TLSSocket).alpnProtocol]).toEqual([true, 'http/1.1']);
    socket.write(`GET /x HTTP/1.1\r\nHost: ${host}\r\nAuthorization: mine\r\nConnection: close\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*hello/);
    expect([to.received[0]!.request.url, to.seen('authorization')]).toEqual(['/x', [real]]);
  });

  it('requests and handshakes for other names are refused', async () => {
    await expect(ask(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 'other.org')).resolves.toBe('');
    for (const name of ['other.org', `${host}:444`, '', `a@${host}`, `${host}.evil.org`])
      expect(await ask(`GET / HTTP/1.1\r\nHost: ${name}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
    expect(await ask(`GET https://${host}/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
    expect(to.received).toEqual([]);
    expect(await ask(`GET / HTTP/1.1\r\nHost: ${host.toUpperCase()}:443\r\nConnection: close\r\n\r\n`)).toMatch(
      / 200 OK/,
    );
  });

  it('a client that does not speak TLS, or not HTTP/1.1, is disconnected', async () => {
    expect(await to.raw('GET / HTTP/1.1\r\nHost: x\r\n\r\n')).not.toContain('hello');
    const socket = connectTls({
      port: to.port,
      host: '127.0.0.1',
      servername: host,
      ca: trusted,
      ALPNProtocols: ['h2'],
    });
    await expect(once(socket, 'secureConnect')).rejects.toThrow();
    expect(to.received).toEqual([]);
  });
});
