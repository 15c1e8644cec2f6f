/** Rooms of sandboxes: which a request may have, and an inbox for each of them while the sandbox exists. */

import { Fault } from '../../../model/fault.ts';
import type { SandboxRequest } from '../../sandbox/api.ts';
import type { Sandbox } from '../../sandbox/model.ts';
import type { RoomGrant } from '../model/grant.ts';
import { checkParticipantName, type RoomRecord } from '../model/room.ts';
import type { Room } from '../room.ts';

export interface SandboxRoomsParts {
  readonly find: (user: string, name: string) => RoomRecord | null;
  readonly open: (record: RoomRecord) => Promise<Pick<Room, 'addParticipant' | 'addInbox' | 'removeInbox'>>;
}

export class SandboxRooms {
  readonly #parts: SandboxRoomsParts;

  constructor(parts: SandboxRoomsParts) {
    this.#parts = parts;
  }

  grants(user: string, requests: NonNullable<SandboxRequest['rooms']>): RoomGrant[] {
    return requests.map(({ room, readonly = false }) => {
      const { name, folder } = this.#find(user, room);
      return { name, folder, readonly };
    });
  }

  /** Called before each start: makes the sandbox a participant with an inbox. Idempotent. */
  async provide(sandbox: Sandbox): Promise<void> {
    for (const { name } of writable(sandbox)) {
      const room = await this.#parts.open(this.#find(sandbox.spec.user, name));
      await room.addParticipant({ kind: 'sandbox', name: checkParticipantName(sandbox.name) });
      await room.addInbox({ kind: 'sandbox', name: sandbox.name });
    }
  }

  /** Called after the end: removes the inboxes once their files have become messages. */
  async release(sandbox: Sandbox): Promise<void> {
    for (const { name } of writable(sandbox)) {
      const record = this.#parts.find(sandbox.spec.user, name);
      if (record !== null) await (await this.#parts.open(record)).removeInbox(sandbox.name);
    }
  }

  #find(user: string, name: string): RoomRecord {
    const found = this.#parts.find(user, name);
    if (found !== null) return found;
    throw new Fault('not_found', `no room ${name}`, { hint: `Create it with: carrel room create ${name}` });
  }
}

function writable({ spec }: Sandbox): readonly RoomGrant[] {
  return (spec.rooms ?? []).filter(({ readonly }) => !readonly);
}
