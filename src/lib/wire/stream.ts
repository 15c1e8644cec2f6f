/**
 * The framed stream that `attach`, `exec` and `logs` speak: one byte of type, four of length (big endian), the payload.
 *
 *   client → server   request (JSON, first, exec only) · stdin (empty: end of input) · resize {rows, columns} · signal {name}
 *   server → client   stdout · stderr · exit {exitCode, signal, outOfMemory, refused?} or fault {code, message, …}, always last
 *                     `refused`, of attach: hosts that no rule allowed
 *                     notice {message}, of attach: something about the stream itself
 *   a build          progress (JSON, any number) · result (JSON) or fault, always last
 *
 * Back pressure is the socket's own: a writer waits for `drain`.
 */
const frameTypes = [
  'request',
  'stdin',
  'stdout',
  'stderr',
  'resize',
  'signal',
  'exit',
  'fault',
  'progress',
  'result',
  'notice',
] as const;
export type FrameType = (typeof frameTypes)[number];

export interface Frame {
  readonly type: FrameType;
  readonly payload: Buffer;
}

export const streamProtocol = 'carrel-stream';
const maxFrameBytes = 4 * 1024 * 1024;
const headBytes = 5;

export function encodeFrame(type: FrameType, payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(headBytes + payload.length);
  frame.writeUInt8(frameTypes.indexOf(type), 0);
  frame.writeUInt32BE(payload.length, 1);
  frame.set(payload, headBytes);
  return frame;
}

export function encodeJson(type: FrameType, value: unknown): Buffer {
  return encodeFrame(type, Buffer.from(JSON.stringify(value)));
}

export function decodeJson(frame: Frame): unknown {
  return JSON.parse(frame.payload.toString('utf8'));
}

/** Takes chunks of bytes and returns whole frames. Throws if the stream is not a Carrel stream. */
export class FrameReader {
  #held: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): Frame[] {
    let rest = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const frames: Frame[] = [];
    while (rest.length >= headBytes) {
      const end = headBytes + payloadLength(rest);
      if (rest.length < end) break;
      frames.push({ type: frameTypes[rest.readUInt8(0)]!, payload: rest.subarray(headBytes, end) });
      rest = rest.subarray(end);
    }
    this.#held = rest;
    return frames;
  }
}

function payloadLength(head: Buffer): number {
  const length = head.readUInt32BE(1);
  if (frameTypes[head.readUInt8(0)] === undefined || length > maxFrameBytes) throw new Error('not a carrel stream');
  return length;
}
