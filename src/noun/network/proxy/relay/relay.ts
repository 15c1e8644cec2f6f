/** Relays bytes between two sockets with back-pressure, counted, until both sides have ended. */
import type { Socket } from 'node:net';
import { Transform } from 'node:stream';
import type { Meter } from '../limit/meter.ts';
import { takeDirectly } from './reused-buffer.ts';

export interface Passing {
  readonly meter: Meter;
  /** Called for each chunk before it passes. */
  readonly onBytes: (bytes: number, way: 'sent' | 'received') => void;
}

/** Inspects chunks until `isOver`, and returns the part of each chunk that passes. */
export interface Inspection {
  readonly isOver: boolean;
  sent(chunk: Buffer): Buffer;
  received(chunk: Buffer): Buffer;
}

export function relay(client: Socket, upstream: Socket, passing: Passing, inspection: Inspection | null = null): void {
  pass(client, upstream, 'sent', passing, inspection);
  pass(upstream, client, 'received', passing, inspection);
}

function pass(
  from: Socket,
  to: Socket,
  way: 'sent' | 'received',
  { meter, onBytes }: Passing,
  inspection: Inspection | null,
): void {
  from.on('end', () => to.end());
  from.on('error', () => to.destroy());
  from.on('close', () => {
    if (!from.readableEnded) to.destroy();
  });
  relayBytes(from, to, meter, (chunk) => {
    onBytes(chunk.length, way);
    // An inspection may keep the chunk, but its buffer is reused for the next read, so it gets a copy.
    return [inspection && !inspection.isOver ? inspection[way](Buffer.from(chunk)) : chunk];
  });
}

/**
 * Passes bytes one way, with back-pressure. `shape` returns the part of a chunk that passes; then `passed` is called.
 */
export function relayBytes(
  from: Socket,
  to: Socket,
  meter: Meter,
  shape: (chunk: Buffer) => readonly Buffer[],
  passed: () => void = () => {},
): void {
  let holds = 0;
  let isWriting = false;
  const hold = () => {
    holds += 1;
    from.pause();
  };
  const release = () => {
    holds -= 1;
    if (holds === 0 && !from.destroyed) from.resume();
  };
  const written = () => {
    if (!isWriting || to.writableLength > 0) return;
    isWriting = false;
    release();
  };
  const take = (chunk: Buffer) => {
    write(to, shape(chunk), written);
    passed();
    // The buffer must not be reused for a read before its bytes are written.
    if (to.writableLength > 0 && !isWriting) {
      isWriting = true;
      hold();
    }
    if (meter.take(chunk.length, release)) hold();
  };
  takeDirectly(from, take);
  from.on('data', take);
  from.resume();
}

function write(to: Socket, pieces: readonly Buffer[], written: () => void): void {
  if (to.destroyed) return;
  if (pieces.length > 1) to.cork();
  for (const piece of pieces) if (piece.length > 0) to.write(piece, written);
  if (pieces.length > 1) to.uncork();
}

/** Like `relayBytes`, as a stream: passes each chunk when the meter allows it. */
export function counted({ meter, onBytes }: Passing, way: 'sent' | 'received'): Transform {
  return new Transform({
    transform: (chunk: Buffer, _, done) => {
      onBytes(chunk.length, way);
      if (!meter.take(chunk.length, () => done(null, chunk))) done(null, chunk);
    },
  });
}
