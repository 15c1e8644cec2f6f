/**
 * Certificates (X.509, RFC 5280) of two kinds: an authority for each sandbox, constrained to the hosts of its credentials,
 * and the leaf certificates of those hosts. All are signed with the one key of an installation.
 */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { Host } from '../../../model/host.ts';
import type { Issuer } from './credential.ts';
import { bits, explicit, implicit, integer, octets, oid, sequence, set, text, time, truth } from './der.ts';

export interface Leaf {
  /** PEM. */
  readonly key: string;
  readonly certificate: string;
  readonly expiresAtMs: number;
}

const hourMs = 3_600_000;
/** A sandbox keeps the certificate that it got at its start as long as it runs. */
const authorityMs = 10 * 365 * 24 * hourMs;
const leafMs = 24 * hourMs;
/** A certificate is valid from this much earlier, for clients whose clock is behind. */
const earlierMs = hourMs;

export function newAuthorityKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
}

/** The certificate that a sandbox trusts. Its name constraints limit it to these hosts, whatever the key signs. */
export function authorityCertificate(issuer: Issuer, hosts: readonly Host[], nowMs: number): string {
  const key = publicKey(issuer.key);
  return certificate(issuer, {
    subject: issuer.name,
    key,
    fromMs: nowMs - earlierMs,
    toMs: nowMs + authorityMs,
    extensions: [
      extension('2.5.29.19', sequence(truth, integer(Buffer.from([0]))), 'critical'),
      extension('2.5.29.15', bits(Buffer.from([keyCertSign]), 2), 'critical'),
      extension('2.5.29.30', nameConstraints(hosts), 'critical'),
      extension('2.5.29.14', octets(keyId(key))),
    ],
  });
}

/** A certificate for one host, with a key of its own. */
export function leafCertificate(issuer: Issuer, host: Host, nowMs: number): Leaf {
  const { privateKey, publicKey: leafKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = leafKey.export({ type: 'spki', format: 'der' });
  const expiresAtMs = nowMs + leafMs;
  const made = certificate(issuer, {
    subject: null,
    key,
    fromMs: nowMs - earlierMs,
    toMs: expiresAtMs,
    extensions: [
      extension('2.5.29.19', sequence(), 'critical'),
      extension('2.5.29.15', bits(Buffer.from([digitalSignature]), 7), 'critical'),
      extension('2.5.29.37', sequence(oid('1.3.6.1.5.5.7.3.1'))),
      extension('2.5.29.17', sequence(implicit(...generalName(host, nameBytes(host)))), 'critical'),
      extension('2.5.29.14', octets(keyId(key))),
    ],
  });
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, certificate: made, expiresAtMs };
}

/** Bits of key usage in the first byte. */
const digitalSignature = 0x80;
const keyCertSign = 0x04;

interface Content {
  /** Null: the subject is empty, and the host is in the critical subject alternative name. */
  readonly subject: string | null;
  /** As SubjectPublicKeyInfo. */
  readonly key: Buffer;
  readonly fromMs: number;
  readonly toMs: number;
  readonly extensions: readonly Buffer[];
}

function certificate(issuer: Issuer, { subject, key, fromMs, toMs, extensions }: Content): string {
  const algorithm = sequence(oid('1.2.840.10045.4.3.2'));
  const issuerKeyId = sequence(implicit(0, keyId(publicKey(issuer.key))));
  const content = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(randomBytes(16)),
    algorithm,
    commonName(issuer.name),
    sequence(time(new Date(fromMs)), time(new Date(toMs))),
    subject === null ? sequence() : commonName(subject),
    key,
    explicit(3, sequence(...extensions, extension('2.5.29.35', issuerKeyId))),
  );
  const signed = sequence(content, algorithm, bits(sign('sha256', content, createPrivateKey(issuer.key))));
  const lines = signed.toString('base64').replace(/.{64}(?=.)/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

function publicKey(pem: string): Buffer {
  return createPublicKey(pem).export({ type: 'spki', format: 'der' });
}

function keyId(key: Buffer): Buffer {
  return createHash('sha256').update(key).digest().subarray(0, 20);
}

function commonName(name: string): Buffer {
  return sequence(set(sequence(oid('2.5.4.3'), text(name))));
}

function extension(id: string, value: Buffer, critical?: 'critical'): Buffer {
  return sequence(oid(id), ...(critical ? [truth] : []), octets(value));
}

/** Tags of GeneralName: [2] for names, [7] for addresses. */
function generalName({ kind }: Pick<Host, 'kind'>, content: Buffer): [number, Buffer] {
  return [kind === 'name' ? 2 : 7, content];
}

function nameBytes(host: Host): Buffer {
  return host.kind === 'name' ? Buffer.from(host.text) : addressBytes(host.text, host.family);
}

const everyName: [number, Buffer] = [2, Buffer.alloc(0)];
const everyAddress: readonly [number, Buffer][] = [
  [7, Buffer.alloc(8)],
  [7, Buffer.alloc(32)],
];

/** A kind of name without permitted hosts has to be excluded: constraints of one kind do not limit another. */
function nameConstraints(hosts: readonly Host[]): Buffer {
  const permitted = hosts.map((host) => generalName(host, constraint(host)));
  const kinds = new Set(hosts.map(({ kind }) => kind));
  const excluded = [...(kinds.has('name') ? [] : [everyName]), ...(kinds.has('address') ? [] : everyAddress)];
  const subtrees = (names: readonly [number, Buffer][]) => names.map((name) => sequence(implicit(...name)));
  return sequence(
    explicit(0, ...subtrees(permitted)),
    ...(excluded.length > 0 ? [explicit(1, ...subtrees(excluded))] : []),
  );
}

/** An address is followed by a mask, here of all ones. */
function constraint(host: Host): Buffer {
  const bytes = nameBytes(host);
  return host.kind === 'name' ? bytes : Buffer.concat([bytes, Buffer.alloc(bytes.length, 0xff)]);
}

/** Encodes an address from its canonical spelling. */
function addressBytes(address: string, family: 4 | 6): Buffer {
  if (family === 4) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = address.split('::');
  const [front, back] = [words(head), words(tail ?? '')];
  const zeros = tail === undefined ? [] : new Array<string>(8 - front.length - back.length).fill('0');
  return Buffer.from([...front, ...zeros, ...back].map((word) => word.padStart(4, '0')).join(''), 'hex');
}

function words(part: string): string[] {
  return part === '' ? [] : part.split(':');
}
