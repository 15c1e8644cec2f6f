/** Rooms as objects of their thread. */
import type { ThreadObjectKind } from '../../lib/wire/thread-objects.ts';
import { asFault, Fault } from '../../model/fault.ts';
import { InboxWatch } from './inbox/inbox-watch.ts';
import { OpenedRoom } from './opened-room.ts';
import type { RoomAbout } from './room.ts';
import { roomFault } from './room-fault.ts';
import type { RoomPush } from './rooms.ts';

export function roomObjects(now = () => new Date()): ThreadObjectKind<OpenedRoom> {
  const watch = new InboxWatch();
  return {
    open: (folder, [about]: readonly [RoomAbout], push: (message: RoomPush) => void) =>
      new OpenedRoom(folder, about, {
        ...{ now, watch },
        committed: (messages) => messages.length > 0 && push({ committed: messages }),
        report: (error) => push({ trouble: asFault(error).toJSON() }),
      }),
    opened: ({ lastId }) => lastId,
    notOpen: (folder) => new Fault('not_found', `the room ${folder} is not open`),
    faultOf: roomFault,
    dispose: () => watch.close(),
  };
}
