/**
 * One entry of a tar archive: the fields of its header of 512 bytes, and the records of an extended header before it.
 */
import { Fault } from '../../../model/fault.ts';

export const blockBytes = 512;

export interface Header {
  /** Any bytes, as latin1. */
  readonly name: string;
  readonly linkName: string;
  readonly type: string;
  /** NaN: not stated. */
  readonly sizeBytes: number;
  readonly device: string;
}

export function damaged(how: string): Fault {
  return new Fault('invalid', `the archive is damaged: ${how}`, {
    hint: 'Nothing was changed. Other backups: carrel volume ls --backups',
  });
}

export function padded(bytes: number): number {
  return Math.ceil(bytes / blockBytes) * blockBytes;
}

export function isZero(block: Buffer): boolean {
  return block.every((byte) => byte === 0);
}

/** Strict, so that no other parser can read it differently. */
export function parseHeader(block: Buffer): Header {
  if (text(block, 257, 6) !== 'ustar' || text(block, 263, 2) !== '00') throw damaged('an entry is of an unknown form');
  if (octal(block, 148, 8) !== checksum(block)) throw damaged('an entry has a wrong checksum');
  const prefix = text(block, 345, 155);
  return {
    name: prefix === '' ? text(block, 0, 100) : `${prefix}/${text(block, 0, 100)}`,
    linkName: text(block, 157, 100),
    type: block[156] === 0 ? '0' : String.fromCharCode(block[156]!),
    sizeBytes: octal(block, 124, 12),
    device: `${octal(block, 329, 8)}:${octal(block, 337, 8)}`,
  };
}

function text(block: Buffer, start: number, length: number): string {
  return block.toString('latin1', start, start + length).split('\0', 1)[0]!;
}

function octal(block: Buffer, start: number, length: number): number {
  const digits = text(block, start, length).trim();
  if (!/^[0-7]*$/.test(digits)) throw damaged('an entry has a field that is not a number');
  return Number.parseInt(digits, 8);
}

/** Over all bytes, with spaces in place of the checksum itself. */
function checksum(block: Buffer): number {
  return block.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);
}

const maxOctalSize = 8 ** 11;

export function makeHeader(name: string, sizeBytes: number, at: Date): Buffer {
  const block = Buffer.alloc(blockBytes);
  block.write(name, 0);
  for (const [field, start] of [
    ['0000600', 100],
    ['0000000', 108],
    ['0000000', 116],
  ] as const)
    block.write(field, start);
  if (sizeBytes < maxOctalSize) block.write(sizeBytes.toString(8).padStart(11, '0'), 124);
  else block.writeBigUInt64BE(BigInt(sizeBytes), block.writeUInt8(0x80, 124) + 3);
  block.write(
    Math.floor(at.getTime() / 1000)
      .toString(8)
      .padStart(11, '0'),
    136,
  );
  block.write('0', 156);
  block.write('ustar\u000000', 257);
  block.write(`${checksum(block).toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** `LENGTH KEY=VALUE` and a newline, repeated; a value may hold any bytes. */
export function parseRecords(body: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < body.length; ) {
    const digits = /^[1-9]\d{0,7} /.exec(body.toString('latin1', at, at + 9))?.[0];
    const end = at + Number(digits);
    if (digits === undefined || end > body.length || body[end - 1] !== 0x0a) throw damaged('an extended header');
    const record = body.toString('latin1', at + digits.length, end - 1);
    const equals = record.indexOf('=');
    const key = record.slice(0, equals);
    if (equals < 1 || records.has(key)) throw damaged('an extended header');
    records.set(key, record.slice(equals + 1));
    at = end;
  }
  return records;
}
