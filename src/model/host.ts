/**
 * Names and addresses of hosts in one canonical spelling. Other spellings of the same host are converted to it; a spelling
 * that programs are known to parse differently is refused.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';
import { Fault } from './fault.ts';
import { printable } from './name.ts';

export type Host =
  | { readonly kind: 'name'; readonly text: string }
  | { readonly kind: 'address'; readonly text: string; readonly family: 4 | 6 };

export interface Endpoint {
  readonly host: Host;
  readonly port: number;
}

const maxNameLength = 253;
/** Longer than any address, and than any name in any script before its conversion to ASCII. */
const maxTextLength = 1024;
const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** A host as people and programs write it, an IPv6 address with or without brackets. */
export function parseHost(text: string): Host {
  if (text.length > maxTextLength) throw refused(text, 'is longer than names can be');
  if (text.startsWith('[')) return parseBracketed(text);
  if (isIPv6(text)) return parseIPv6(text, text);
  if (isIPv4(text)) return { kind: 'address', text, family: 4 };
  return { kind: 'name', text: parseName(text) };
}

/** HOST:PORT, as in a CONNECT request; `otherwise` is the default port. */
export function parseEndpoint(text: string, otherwise?: number): Endpoint {
  const { host, port } = splitPort(text);
  if (port === null && otherwise === undefined)
    throw new Fault('invalid', `${printable(text)} has no port`, { hint: 'Write HOST:PORT.' });
  return { host: parseHost(host), port: port ?? otherwise! };
}

/** A port after the last colon, unless that colon is inside an IPv6 address. */
export function splitPort(text: string): { readonly host: string; readonly port: number | null } {
  const found = /^(\[[^\]]*\]|[^:]*):([^:]*)$/.exec(text);
  return found ? { host: found[1]!, port: parsePort(found[2]!, text) } : { host: text, port: null };
}

function parsePort(digits: string, text: string): number {
  const port = /^[1-9]\d{0,4}$/.test(digits) ? Number(digits) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new Fault('invalid', `${printable(text)}: ${printable(digits)} is not a port`, { hint: 'Use 1 to 65535.' });
}

/** The form of the host for a URL, or before a port. */
export function hostText(host: Host): string {
  return host.kind === 'address' && host.family === 6 ? `[${host.text}]` : host.text;
}

export function endpointText({ host, port }: Endpoint): string {
  return `${hostText(host)}:${port}`;
}

function parseBracketed(text: string): Host {
  const inner = text.slice(1, -1);
  if (!text.endsWith(']') || !isIPv6(inner)) throw refused(text, 'is not an IPv6 address');
  return parseIPv6(inner, text);
}

/** An IPv4-mapped IPv6 address is that IPv4 address, because the kernel connects to it. */
function parseIPv6(inner: string, text: string): Host {
  if (inner.includes('%')) throw refused(text, 'names a network interface');
  const canonical = new URL(`http://[${inner}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical);
  if (!mapped) return { kind: 'address', text: canonical, family: 6 };
  const [high, low] = [Number.parseInt(mapped[1]!, 16), Number.parseInt(mapped[2]!, 16)];
  return { kind: 'address', text: [high >> 8, high & 255, low >> 8, low & 255].join('.'), family: 4 };
}

export function parseName(text: string): string {
  // Some programs decode these and others do not; the rest delimits a host in a URL.
  if (/[\u0000-\u0020\u007f%@/\\?#:[\]<>^|*]/.test(text)) throw refused(text, 'has characters that no host name has');
  const ascii = domainToASCII(text).replace(/\.$/, '');
  // Invalid punycode, which some versions of Node accept.
  if (ascii === '' || /(?:^|\.)xn--/.test(domainToUnicode(ascii))) throw refused(text, 'is not a host name');
  checkName(ascii, text);
  return ascii;
}

/** Checks the labels of a name in ASCII. */
function checkName(name: string, text: string): void {
  if (name.length > maxNameLength) throw refused(text, 'is longer than names can be');
  const labels = name.split('.');
  if (!labels.every((one) => label.test(one))) throw refused(text, 'is not a host name');
  // Parsed as an IPv4 address by programs that accept octal, hexadecimal or fewer than four numbers.
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1)!)) throw refused(text, 'is an odd spelling of an address');
}

function refused(text: string, why: string): Fault {
  return new Fault('invalid', `${printable(text)} ${why}`, {
    hint: 'Write HOST or HOST:PORT, such as example.com:443.',
  });
}
