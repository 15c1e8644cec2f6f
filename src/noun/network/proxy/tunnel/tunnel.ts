/**
 * A tunnel to a requested name or address. TLS in it has to name the same host; plain HTTP is parsed request by request. On
 * port 443 only TLS passes, on port 80 only plain HTTP; on other ports another protocol passes as it is. Text whose first
 * line could be a request is held until that line is whole: what a server could read as HTTP goes through the strict
 * parser, or the tunnel is closed.
 */
import type { Socket } from 'node:net';
import { type Endpoint, endpointText } from '../../../../model/host.ts';
import type { CredentialKey, Forwarder } from '../../credential/credential.ts';
import { RefusedAttempt } from '../../lookup.ts';
import type { ConnectionVia } from '../../record.ts';
import type { Attempt } from '../attached/attempt.ts';
import { credentialCall, interceptedBy } from '../attached/call.ts';
import { firstBytes, type Inbound } from '../front/inbound.ts';
import { BadHello, HelloWatch, handshakeRecord } from './hello.ts';
import { UnknownProtocol } from './unknown-protocol.ts';

const tlsPort = 443;
const httpPort = 80;
/** The TLS alert for a wrong name: unrecognized_name, fatal. */
const nameAlert = Buffer.from([21, 3, 1, 0, 2, 2, 112]);

export interface TunnelRequest {
  readonly inbound: Inbound;
  readonly via: ConnectionVia;
  /** The request as it came, once it is known. */
  readonly text: () => string;
  readonly read: () => Promise<Endpoint>;
  /** Tells the client that it is connected. */
  readonly accept: () => void;
  readonly answer: (refused: RefusedAttempt) => void;
  readonly http: { take(inbound: Inbound): void };
  readonly forwarder: Forwarder;
}

export async function takeTunnel(request: TunnelRequest): Promise<void> {
  const { inbound, via } = request;
  const attempt = inbound.attached.attempt(via);
  try {
    const endpoint = await request.read();
    attempt.endpoint = endpoint;
    const credential = interceptedBy(inbound.attached, endpoint);
    if (credential) return openCredential(request, endpoint, attempt, credential);
    if (endpoint.port === httpPort) return openHttp(request, endpoint, attempt);
    const upstream = await inbound.attached.dial(attempt, endpoint);
    request.accept();
    await open(request, endpoint, attempt, upstream);
  } catch (error) {
    const refused =
      error instanceof RefusedAttempt ? error : new RefusedAttempt('unreachable', `it failed (${String(error)})`);
    attempt.refuse(request.text(), refused);
    request.answer(refused);
  }
}

/** Every request in the tunnel is an attempt of its own. */
function openHttp({ inbound, accept, http }: TunnelRequest, endpoint: Endpoint, attempt: Attempt): void {
  const decision = inbound.attached.policy.decide(endpoint);
  if (!decision.allowed) throw new RefusedAttempt(decision.refusal, decision.reason, decision.rule);
  attempt.end();
  accept();
  http.take({ ...inbound, fixed: endpoint });
}

/** Every connection to the host is an attempt of its own. */
function openCredential(
  { inbound, accept, forwarder }: TunnelRequest,
  endpoint: Endpoint,
  attempt: Attempt,
  credential: CredentialKey,
): void {
  attempt.end();
  accept();
  forwarder.answer(credentialCall(inbound.attached, credential, inbound.socket, endpoint));
}

type Kind = 'tls' | 'http' | 'other';

async function open(
  { inbound, http }: TunnelRequest,
  endpoint: Endpoint,
  attempt: Attempt,
  upstream: Socket,
): Promise<void> {
  const { attached, socket } = inbound;
  attempt.holds(socket, upstream);
  const kind = await kindOfFirst(socket, upstream, endpoint.port, attached.attachment.limits.connectMs);
  if (attempt.isOver) return;
  if (kind === null) return breakOff(attempt, socket, upstream, null);
  if (kind === 'tls') return openTls({ inbound, endpoint, attempt, upstream });
  if (kind === 'http' && endpoint.port !== tlsPort)
    return http.take({ attached, socket, fixed: endpoint, spare: { attempt, socket: upstream } });
  if (endpoint.port === tlsPort) {
    attempt.refuse(endpointText(endpoint), new RefusedAttempt('server_name', 'the client does not begin with TLS'));
    return breakOff(attempt, socket, upstream, null);
  }
  const cut = () => {
    attempt.refuse(
      endpointText(endpoint),
      new RefusedAttempt('server_name', 'the server reads HTTP in an unknown protocol'),
    );
    breakOff(attempt, socket, upstream, null);
  };
  attached.connect(attempt, socket, upstream, new UnknownProtocol(cut));
}

function breakOff(attempt: Attempt, socket: Socket, upstream: Socket, reason: string | null): void {
  attempt.end(reason);
  socket.destroy();
  upstream.destroy();
}

/**
 * The protocol, by the first bytes of the side that sends first. Null: a side ended, or the time-out passed, before it
 * was known.
 */
async function kindOfFirst(client: Socket, upstream: Socket, port: number, timeoutMs: number): Promise<Kind | null> {
  const enough = new AbortController();
  let late: NodeJS.Timeout | undefined;
  const inTime = () => {
    late ??= setTimeout(() => enough.abort(), timeoutMs);
  };
  if (port === tlsPort) inTime();
  const isKnown = (bytes: Buffer) => {
    // A server may send first, without a time-out. A client that has begun to send has one.
    inTime();
    return kindOf(bytes) !== 'more';
  };
  const fromClient = firstBytes(client, isKnown, enough.signal).then((bytes) => bytes && kindOf(bytes));
  const speaksFirst = port === tlsPort ? [] : [firstBytes(upstream, () => true, enough.signal).then(kindOfServer)];
  try {
    return (await Promise.race([fromClient, ...speaksFirst])) as Kind | null;
  } finally {
    clearTimeout(late);
    enough.abort();
  }
}

/** If a server answers HTTP before a whole request came, the client's bytes are parsed as HTTP. */
function kindOfServer(bytes: Buffer | null): Kind | null {
  return bytes && (bytes.subarray(0, 5).toString('latin1') === 'HTTP/' ? 'http' : 'other');
}

/** Longer text without a line end is parsed as HTTP. A common request target is recognised long before. */
const maxLineBytes = 8 * 1024;
/** A request line as tolerant servers read it. The strict parser then decides about it. */
const request = /^\s|^connect\s|^[!-~]+[ \t\v\f\r]+(?:\/|\*|[a-z]+:\/\/)|\shttp\//i;
/** The beginning of what may become a request line. */
const requestBegun = /^[!-~][!-~\x80-\xff \t\v\f\r]*$/;

/** The protocol of a client. Text is undecided until its first line is whole. */
export function kindOf(bytes: Buffer): Kind | 'more' {
  if (bytes[0] === handshakeRecord) return 'tls';
  const end = bytes.indexOf('\n');
  const line = bytes.subarray(0, end < 0 ? maxLineBytes : end).toString('latin1');
  if (request.test(line)) return 'http';
  if (end >= 0 || !requestBegun.test(line)) return 'other';
  return line.length < maxLineBytes ? 'more' : 'http';
}

interface TlsTunnel {
  readonly inbound: Inbound;
  readonly endpoint: Endpoint;
  readonly attempt: Attempt;
  readonly upstream: Socket;
}

function openTls({ inbound: { attached, socket }, endpoint, attempt, upstream }: TlsTunnel): void {
  const watch = new HelloWatch(endpoint.host);
  const late = setTimeout(() => {
    if (!watch.isNamed) breakOff(attempt, socket, upstream, 'the handshake takes too long');
  }, attached.attachment.limits.connectMs);
  upstream.once('close', () => clearTimeout(late));
  const sent = (chunk: Buffer): Buffer => {
    try {
      return watch.fromClient(chunk);
    } catch (error) {
      if (!(error instanceof BadHello)) throw error;
      attempt.refuse(endpointText(endpoint), new RefusedAttempt('server_name', error.message));
      socket.end(nameAlert);
      socket.destroySoon();
      upstream.destroy();
      return Buffer.alloc(0);
    }
  };
  const received = (chunk: Buffer): Buffer => {
    watch.fromServer(chunk);
    if (watch.isOver) {
      const held = watch.release();
      if (held.length > 0 && !upstream.destroyed) upstream.write(held);
    }
    return chunk;
  };
  attached.connect(attempt, socket, upstream, {
    get isOver() {
      return watch.isOver;
    },
    sent,
    received,
  });
}
