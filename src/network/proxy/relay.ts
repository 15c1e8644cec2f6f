/** Bytes both ways between two sockets: each at the pace of the other, counted, until both sides have ended. */
import type { Socket } from 'node:net';
import { Transform } from 'node:stream';
import { takeDirectly } from './intake.ts';
import type { Meter } from './meter.ts';

export interface Passing {
  readonly meter: Meter;
  /** Called for each chunk, before it is passed on. */
  readonly onBytes: (bytes: number, way: 'sent' | 'received') => void;
}

/** Looks at chunks on their way, until it has seen enough, and returns what of each is passed on. */
export interface Look {
  readonly isOver: boolean;
  sent(chunk: Buffer): Buffer;
  received(chunk: Buffer): Buffer;
}

export function relay(client: Socket, upstream: Socket, passing: Passing, look: Look | null = null): void {
  pass(client, upstream, 'sent', passing, look);
  pass(upstream, client, 'received', passing, look);
}

function pass(
  from: Socket,
  to: Socket,
  way: 'sent' | 'received',
  { meter, onBytes }: Passing,
  look: Look | null,
): void {
  from.on('end', () => to.end());
  from.on('error', () => to.destroy());
  from.on('close', () => {
    if (!from.readableEnded) to.destroy();
  });
  pour(from, to, meter, (chunk) => {
    onBytes(chunk.length, way);
    // What looks may keep it for longer.
    return [look && !look.isOver ? look[way](Buffer.from(chunk)) : chunk];
  });
}

/** One way, at the pace of who takes it. `shape` says what of a chunk is passed on; then `passed` is called. */
export function pour(
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
  const letGo = () => {
    holds -= 1;
    if (holds === 0 && !from.destroyed) from.resume();
  };
  const written = () => {
    if (!isWriting || to.writableLength > 0) return;
    isWriting = false;
    letGo();
  };
  const take = (chunk: Buffer) => {
    write(to, shape(chunk), written);
    passed();
    // Memory that is still to be written must not be read into.
    if (to.writableLength > 0 && !isWriting) {
      isWriting = true;
      hold();
    }
    if (meter.take(chunk.length, letGo)) hold();
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

/** The same for what is no socket any more: passes chunks on when they may pass. */
export function counted({ meter, onBytes }: Passing, way: 'sent' | 'received'): Transform {
  return new Transform({
    transform: (chunk: Buffer, _, done) => {
      onBytes(chunk.length, way);
      if (!meter.take(chunk.length, () => done(null, chunk))) done(null, chunk);
    },
  });
}
