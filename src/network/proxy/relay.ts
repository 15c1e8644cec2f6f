/** Bytes both ways between two sockets: each at the pace of the other, counted, until both sides have ended. */
import type { Socket } from 'node:net';
import { Transform } from 'node:stream';
import type { Meter } from './meter.ts';

export interface Passing {
  readonly meter: Meter;
  /** Called for each chunk, before it is passed on. */
  readonly onBytes: (bytes: number, way: 'sent' | 'received') => void;
}

/** Looks at a chunk on its way and returns what of it is passed on. */
export type Look = (chunk: Buffer) => Buffer;

export function relay(
  client: Socket,
  upstream: Socket,
  passing: Passing,
  look: Partial<Record<'sent' | 'received', Look>> = {},
): void {
  pass(client, upstream, 'sent', passing, look.sent);
  pass(upstream, client, 'received', passing, look.received);
}

function pass(from: Socket, to: Socket, way: 'sent' | 'received', { meter, onBytes }: Passing, look?: Look): void {
  let holds = 0;
  const hold = () => {
    holds += 1;
    from.pause();
  };
  const letGo = () => {
    holds -= 1;
    if (holds === 0 && !from.destroyed) from.resume();
  };
  from.on('data', (chunk: Buffer) => {
    onBytes(chunk.length, way);
    const bytes = look ? look(chunk) : chunk;
    if (bytes.length > 0 && !to.destroyed && !to.write(bytes)) {
      hold();
      to.once('drain', letGo);
    }
    if (meter.take(chunk.length, letGo)) hold();
  });
  from.on('end', () => to.end());
  from.on('error', () => to.destroy());
  from.on('close', () => {
    if (!from.readableEnded) to.destroy();
  });
  from.resume();
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
