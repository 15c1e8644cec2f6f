/**
 * The server names in a TLS handshake. The client hello must name the requested host, and so must a second one, which a
 * server can request before encryption begins. Bytes of the client are held until they are checked; those of the server
 * are only observed.
 */
import { type Host, hostText, parseHost } from '../../../../model/host.ts';
import { printable } from '../../../../model/name.ts';

export const handshakeRecord = 22;
const clientHello = 1;
const serverHello = 2;
const recordHeaderBytes = 5;
const messageHeaderBytes = 4;
const maxRecordBytes = 16_384;
/** Larger than any real hello, including post-quantum key shares. */
const maxHelloBytes = 65_536;

const extensions = { serverName: 0, encryptedHello: 0xfe0d, encryptedServerName: 0xffce } as const;

/** The random bytes of a server hello that requests another client hello: SHA-256 of "HelloRetryRequest". */
const retryRandom = Buffer.from('cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c', 'hex');

/** The reason why a handshake is refused. */
export class BadHello extends Error {}

export class HelloWatch {
  readonly #host: Host;
  /** Bytes of the client that were held back. */
  #held: Buffer = Buffer.alloc(0);
  #fromServer: Buffer = Buffer.alloc(0);
  #named = 0;
  #isRetried = false;
  #isOver = false;

  constructor(host: Host) {
    this.#host = host;
  }

  /** True: the check is over, and all further bytes may pass. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** True: the client has sent a hello with a valid name. */
  get isNamed(): boolean {
    return this.#named > 0;
  }

  /** Takes bytes of the client; returns those that may pass. */
  fromClient(chunk: Buffer): Buffer {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    return this.#isOver ? this.release() : this.#checkedRecords();
  }

  /** Returns the held bytes and forgets them; called when the check is over. */
  release(): Buffer {
    const bytes = this.#held;
    this.#held = Buffer.alloc(0);
    return bytes;
  }

  fromServer(chunk: Buffer): void {
    if (this.#isOver || this.#isRetried) return;
    this.#fromServer = Buffer.concat([this.#fromServer, chunk.subarray(0, 64)]);
    const answer = readServerHello(this.#fromServer);
    if (answer === 'more') return;
    this.#isRetried = answer === 'retry';
    this.#isOver = !this.#isRetried || this.#named > 1;
  }

  /** Takes the checked whole records from the held bytes. */
  #checkedRecords(): Buffer {
    let good = 0;
    for (;;) {
      const size = this.#unit(this.#held.subarray(good));
      if (size === 0) break;
      good += size;
    }
    const bytes = this.#held.subarray(0, good);
    this.#held = this.#held.subarray(good);
    if (this.#held.length > maxHelloBytes + maxRecordBytes) throw new BadHello('the handshake is too long');
    return bytes;
  }

  /** The size of the first unit of the bytes: one record, or all records of a hello. 0: it is incomplete. */
  #unit(bytes: Buffer): number {
    if (this.#isOver) return bytes.length;
    if (bytes.length < recordHeaderBytes) return 0;
    const size = recordHeaderBytes + bytes.readUInt16BE(3);
    if (bytes[0] !== handshakeRecord && this.#named > 0) return bytes.length < size ? 0 : size;
    const hello = readMessage(bytes);
    if (hello === null) return 0;
    this.#judge(hello.message);
    return hello.size;
  }

  #judge(message: Buffer): void {
    if (message[0] !== clientHello) throw new BadHello('the handshake does not begin with a hello');
    checkNames(namesIn(message.subarray(messageHeaderBytes)), this.#host);
    this.#named += 1;
    if (this.#named > 2) throw new BadHello('the client sends more than two hellos');
    this.#isOver = this.#isRetried && this.#named > 1;
  }
}

/** Joins a handshake message from the records that it is divided into. Null: it is incomplete. */
function readMessage(bytes: Buffer): { message: Buffer; size: number } | null {
  const parts: Buffer[] = [];
  let have = 0;
  for (let at = 0; at + recordHeaderBytes <= bytes.length; ) {
    const length = checkRecord(bytes.subarray(at));
    const end = at + recordHeaderBytes + length;
    parts.push(bytes.subarray(at + recordHeaderBytes, Math.min(end, bytes.length)));
    have += parts.at(-1)!.length;
    const whole = have < messageHeaderBytes ? Number.POSITIVE_INFINITY : wholeLength(parts);
    if (have >= whole) {
      if (have > whole || end > bytes.length) throw new BadHello('the record of the hello has more than the hello');
      return { message: Buffer.concat(parts), size: end };
    }
    at = end;
  }
  return null;
}

function wholeLength(parts: readonly Buffer[]): number {
  const length = messageHeaderBytes + Buffer.concat(parts).readUIntBE(1, 3);
  if (length > maxHelloBytes) throw new BadHello('the hello is too long');
  return length;
}

function checkRecord(bytes: Buffer): number {
  const length = bytes.readUInt16BE(3);
  if (bytes[0] !== handshakeRecord) throw new BadHello('the hello is incomplete');
  if (bytes[1] !== 3 || length === 0 || length > maxRecordBytes) throw new BadHello('this is not TLS');
  return length;
}

interface Names {
  readonly server: string | null;
  readonly isHidden: boolean;
}

function checkNames({ server, isHidden }: Names, host: Host): void {
  // A server that decrypts the hidden name serves that one, not the visible one.
  if (isHidden) throw new BadHello('the client hides the name of the server (encrypted client hello)');
  if (server === null) {
    if (host.kind === 'address') return;
    throw new BadHello(`the client names no server, not ${hostText(host)}`);
  }
  if (canonical(server) !== host.text)
    throw new BadHello(`the client names ${printable(server)} and not ${hostText(host)}`);
}

function canonical(name: string): string | null {
  try {
    return parseHost(name).text;
  } catch {
    return null;
  }
}

function namesIn(body: Buffer): Names {
  const reader = new Reader(body);
  reader.skip(2 + 32);
  reader.vector(1);
  reader.vector(2);
  reader.vector(1);
  if (reader.isAtEnd) return { server: null, isHidden: false };
  const all = new Reader(reader.vector(2));
  reader.end();
  const seen = new Map<number, Buffer>();
  while (!all.isAtEnd) {
    const type = all.number(2);
    if (seen.has(type)) throw new BadHello('the hello has an extension twice');
    seen.set(type, all.vector(2));
  }
  const named = seen.get(extensions.serverName);
  const isHidden = seen.has(extensions.encryptedHello) || seen.has(extensions.encryptedServerName);
  return { server: named === undefined ? null : serverName(named), isHidden };
}

function serverName(extension: Buffer): string {
  const outer = new Reader(extension);
  const list = new Reader(outer.vector(2));
  outer.end();
  const hostName = 0;
  if (list.number(1) !== hostName) throw new BadHello('the server name in the hello is not a host name');
  const name = list.vector(2).toString('latin1');
  list.end();
  return name;
}

/** Reads length-prefixed fields. A length that does not fit is a bad hello. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  skip(size: number): void {
    this.#take(size);
  }

  number(size: 1 | 2): number {
    return this.#take(size).readUIntBE(0, size);
  }

  vector(sizeOfLength: 1 | 2): Buffer {
    return this.#take(this.number(sizeOfLength));
  }

  end(): void {
    if (!this.isAtEnd) throw new BadHello('the hello is malformed');
  }

  #take(size: number): Buffer {
    if (this.#at + size > this.#bytes.length) throw new BadHello('the hello is malformed');
    this.#at += size;
    return this.#bytes.subarray(this.#at - size, this.#at);
  }
}

/** Reads the server's first message. Anything but a server hello, such as an alert, ends the inspection. */
function readServerHello(bytes: Buffer): 'more' | 'retry' | 'other' {
  const randomAt = recordHeaderBytes + messageHeaderBytes + 2;
  if (bytes.length > 0 && bytes[0] !== handshakeRecord) return 'other';
  if (bytes.length > recordHeaderBytes && bytes[recordHeaderBytes] !== serverHello) return 'other';
  if (bytes.length < randomAt + retryRandom.length) return 'more';
  return bytes.subarray(randomAt, randomAt + retryRandom.length).equals(retryRandom) ? 'retry' : 'other';
}
