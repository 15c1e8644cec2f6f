import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { expect, it } from 'vitest';
import { parseHost } from '../../../model/host.ts';
import { authorityCertificate, leafCertificate, newAuthorityKey } from './certificate.ts';
import { integer, oid, sequence, time } from './der.ts';

const now = Date.now();
const issuer = { key: newAuthorityKey(), name: 'Carrel 0123456789abcdef' };

/** The result of a handshake of a client that trusts the authority of the `trusted` hosts with a server for `host`. */
async function handshake(trusted: readonly string[], host: string, key = issuer.key, atMs = now): Promise<string> {
  const leaf = leafCertificate({ ...issuer, key }, parseHost(host), atMs);
  const server = createServer({ key: leaf.key, cert: leaf.certificate }, (socket) => socket.end());
  server.on('tlsClientError', () => {});
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const ca = authorityCertificate(issuer, trusted.map(parseHost), now);
  const named = parseHost(host).kind === 'name' ? { servername: host } : {};
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', ...named, ca });
  const outcome = await once(client, 'secureConnect').then(
    () => 'trusted',
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  );
  client.destroy();
  server.close();
  return outcome;
}

it('a certificate is trusted for its hosts and for no others', async () => {
  const both = ['api.example.org', '127.0.0.1'];
  expect(await handshake(both, 'api.example.org')).toBe('trusted');
  expect(await handshake(both, '127.0.0.1')).toBe('trusted');
  for (const [trusted, host] of [
    [both, 'example.org'],
    [both, 'other.example.org'],
    [both, 'xapi.example.org'],
    [['10.0.0.1'], '127.0.0.1'],
    [['api.example.org'], '127.0.0.1'],
    [['127.0.0.1'], 'api.example.org'],
  ] as const)
    expect([host, await handshake(trusted, host)]).not.toEqual([host, 'trusted']);
});

it('a certificate is not trusted with another key, or after its time', async () => {
  const hosts = ['api.example.org'];
  expect(await handshake(hosts, 'api.example.org', newAuthorityKey())).not.toBe('trusted');
  expect(await handshake(hosts, 'api.example.org', issuer.key, now - 48 * 3_600_000)).toBe('CERT_HAS_EXPIRED');
});

it('the authority is marked as a CA, and the leaf as issued by it', () => {
  const ca = new X509Certificate(authorityCertificate(issuer, [parseHost('a.org')], now));
  expect([ca.ca, ca.subject, ca.checkIssued(ca), ca.verify(ca.publicKey)]).toEqual([
    true,
    `CN=${issuer.name}`,
    true,
    true,
  ]);
  const leaf = leafCertificate(issuer, parseHost('[2001:db8::1:0:0:1]'), now);
  const made = new X509Certificate(leaf.certificate);
  expect([made.ca, made.checkIssued(ca), made.verify(ca.publicKey)]).toEqual([false, true, true]);
  expect(made.subjectAltName).toBe('IP Address:2001:DB8:0:0:1:0:0:1');
  expect(Date.parse(made.validTo)).toBe(Math.floor(leaf.expiresAtMs / 1000) * 1000);
  expect(leaf.expiresAtMs - now).toBeLessThanOrEqual(24 * 3_600_000);
});

it('numbers, object identifiers, times and lengths are encoded as valid DER', () => {
  expect(integer(Buffer.from([0, 0, 0x80])).toString('hex')).toBe('02020080');
  expect(integer(Buffer.from([0])).toString('hex')).toBe('020100');
  expect(oid('1.2.840.113549').toString('hex')).toBe('06062a864886f70d');
  expect(sequence(Buffer.alloc(127)).subarray(0, 2).toString('hex')).toBe('307f');
  expect(sequence(Buffer.alloc(128)).subarray(0, 3).toString('hex')).toBe('308180');
  expect(sequence(Buffer.alloc(70_000)).subarray(0, 5).toString('hex')).toBe('3083011170');
  expect(time(new Date('2049-12-31T23:59:59.999Z')).toString()).toBe('\x17\r491231235959Z');
  expect(time(new Date('2050-01-01T00:00:00Z')).toString()).toBe('\x18\x0f20500101000000Z');
});
