/** SOCKS version 5 (RFC 1928), CONNECT only: no BIND, no UDP, no passwords. */
import type { Socket } from 'node:net';
import { isFault } from '../../../../model/fault.ts';
import { type Endpoint, parseHost } from '../../../../model/host.ts';
import { RefusedAttempt } from '../../lookup.ts';
import type { NetworkRefusal } from '../../model/network.ts';

export const socksVersion = 5;
const noPassword = 0;
const noMethod = 0xff;
const connectCommand = 1;
const addressTypes = { ipv4: 1, name: 3, ipv6: 4 } as const;

export const socksReplies = { done: 0, failed: 1, denied: 2, unreachable: 4, badCommand: 7, badAddress: 8 } as const;

/** Reads exact numbers of bytes. Bytes that were not consumed are put back on close. */
export class SocksReader {
  readonly #socket: Socket;
  readonly #take = () => this.#read();
  #have: Buffer = Buffer.alloc(0);
  #isOver = false;
  #wake = () => {};

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('readable', this.#take).on('end', this.#end).on('close', this.#end);
    this.#read();
  }

  /** Rejects with `RefusedAttempt` when the other side ends first. */
  async bytes(size: number): Promise<Buffer> {
    while (this.#have.length < size) {
      if (this.#isOver) throw new RefusedAttempt('bad_request', 'the SOCKS request is incomplete');
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const bytes = this.#have.subarray(0, size);
    this.#have = this.#have.subarray(size);
    return bytes;
  }

  async byte(): Promise<number> {
    return (await this.bytes(1))[0]!;
  }

  close(): void {
    this.#socket.off('readable', this.#take).off('end', this.#end).off('close', this.#end);
    if (this.#have.length > 0 && !this.#socket.destroyed) this.#socket.unshift(this.#have);
  }

  readonly #end = () => {
    this.#isOver = true;
    this.#wake();
  };

  /** Reads all available bytes: bytes left in the stream would emit `readable` again and again. */
  #read(): void {
    for (let chunk = this.#socket.read() as Buffer | null; chunk; chunk = this.#socket.read() as Buffer | null) {
      this.#have = Buffer.concat([this.#have, chunk]);
    }
    this.#wake();
  }
}

/** Answers the greeting. The client must accept no authentication: the socket identifies the sandbox. */
export async function greet(reader: SocksReader, socket: Socket): Promise<void> {
  if ((await reader.byte()) !== socksVersion) throw new RefusedAttempt('bad_request', 'this is not SOCKS 5');
  const methods = await reader.bytes(await atLeastOne(reader));
  if (methods.includes(noPassword)) {
    socket.write(Buffer.from([socksVersion, noPassword]));
    return;
  }
  socket.end(Buffer.from([socksVersion, noMethod]));
  throw new RefusedAttempt('bad_request', 'the SOCKS client requires a password');
}

async function atLeastOne(reader: SocksReader): Promise<number> {
  const count = await reader.byte();
  if (count === 0) throw new RefusedAttempt('bad_request', 'the SOCKS greeting is empty');
  return count;
}

/** Reads the target of the request. Throws `RefusedAttempt`. */
export async function readRequest(reader: SocksReader): Promise<Endpoint> {
  const [version, command, reserved, type] = await reader.bytes(4);
  if (version !== socksVersion || reserved !== 0)
    throw new RefusedAttempt('bad_request', 'the SOCKS request is malformed');
  if (command !== connectCommand) {
    throw new SocksRefused(socksReplies.badCommand, 'only CONNECT is supported, no BIND and no UDP');
  }
  const text = await readAddress(reader, type!);
  const port = (await reader.bytes(2)).readUInt16BE(0);
  if (port === 0) throw new RefusedAttempt('bad_request', 'port 0 cannot be connected to');
  try {
    return { host: parseHost(text), port };
  } catch (error) {
    if (isFault(error)) throw new RefusedAttempt('bad_request', error.message);
    throw error;
  }
}

export class SocksRefused extends RefusedAttempt {
  readonly reply: number;

  constructor(reply: number, reason: string) {
    super('bad_request', reason);
    this.reply = reply;
  }
}

async function readAddress(reader: SocksReader, type: number): Promise<string> {
  if (type === addressTypes.ipv4) return (await reader.bytes(4)).join('.');
  if (type === addressTypes.ipv6) {
    const bytes = await reader.bytes(16);
    return Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16)).join(':');
  }
  if (type === addressTypes.name) return asciiName(await reader.bytes(await atLeastOne(reader)));
  throw new SocksRefused(socksReplies.badAddress, 'the SOCKS request has an address of an unknown kind');
}

/** Refuses bytes that are not ASCII, because their encoding is unknown. */
function asciiName(bytes: Buffer): string {
  if (bytes.some((byte) => byte > 0x7f)) throw new RefusedAttempt('bad_request', 'the name is not ASCII');
  return bytes.toString('latin1');
}

export function socksReply(code: number): Buffer {
  return Buffer.from([socksVersion, code, 0, addressTypes.ipv4, 0, 0, 0, 0, 0, 0]);
}

export function replyFor(refused: RefusedAttempt): number {
  if (refused instanceof SocksRefused) return refused.reply;
  const codes: Partial<Record<NetworkRefusal, number>> = {
    unreachable: socksReplies.unreachable,
    timeout: socksReplies.unreachable,
    unknown_name: socksReplies.unreachable,
    bad_request: socksReplies.failed,
    limit: socksReplies.failed,
  };
  return codes[refused.refusal] ?? socksReplies.denied;
}
