/** The rooms of a sandbox: it is a participant with an inbox as long as it exists. */
import type { SandboxPart } from '../../sandbox/part/part.ts';
import type { SandboxRooms } from './sandbox-rooms.ts';

export function roomPart(rooms: Pick<SandboxRooms, 'provide' | 'release'>): SandboxPart {
  return {
    prepare: (sandbox) => rooms.provide(sandbox),
    release: (sandbox) => rooms.release(sandbox),
  };
}
