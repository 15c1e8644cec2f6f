/**
 * Headers of a tar archive. Everything belongs to root and has no time, so that the same files give the same archive.
 */
const blockBytes = 512;
const kinds = { file: '0', link: '2', folder: '5' } as const;

export interface TarMember {
  readonly name: Buffer;
  readonly kind: keyof typeof kinds;
  readonly mode: number;
  readonly sizeBytes: number;
  readonly target: Buffer;
}

const maxName = 100;

/** Long names precede the header, as entries of their own type. */
export function* header(member: TarMember): Generator<Buffer> {
  const name = member.kind === 'folder' ? Buffer.concat([member.name, Buffer.from('/')]) : member.name;
  if (member.target.length > maxName) yield* longName('K', member.target);
  if (name.length > maxName) yield* longName('L', name);
  yield block(name, member.target, kinds[member.kind], member.mode, member.sizeBytes);
}

function* longName(type: string, name: Buffer): Generator<Buffer> {
  const body = Buffer.concat([name, Buffer.alloc(1)]);
  yield block(Buffer.from('././@LongLink'), Buffer.alloc(0), type, 0o644, body.length);
  yield body;
  yield padding(body.length);
}

/** Fills the last block of a body, and adds whole blocks after it. */
export function padding(bytes: number, more = 0): Buffer {
  return Buffer.alloc(((blockBytes - (bytes % blockBytes)) % blockBytes) + more * blockBytes);
}

function block(name: Buffer, target: Buffer, type: string, mode: number, sizeBytes: number): Buffer {
  const bytes = Buffer.alloc(blockBytes);
  name.copy(bytes, 0, 0, maxName);
  target.copy(bytes, 157, 0, maxName);
  const number = (value: number, at: number, digits: number) =>
    bytes.write(value.toString(8).padStart(digits, '0'), at);
  number(mode, 100, 7);
  number(0, 108, 7);
  number(0, 116, 7);
  number(sizeBytes, 124, 11);
  number(0, 136, 11);
  bytes.write(type, 156);
  bytes.write('ustar  ', 257);
  bytes.fill(0x20, 148, 156);
  const sum = bytes.reduce((all, byte) => all + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return bytes;
}
