/** A room with many messages, written into its database directly: posting them would take minutes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { currentBootId } from '../../src/lib/process/process.ts';
import { ulidAfter } from '../../src/model/ulid.ts';
import { Meta, openDatabase } from '../../src/noun/room/database/database.ts';
import { Messages } from '../../src/noun/room/database/messages.ts';
import type { RoomAbout } from '../../src/noun/room/room.ts';
import { openRooms } from '../../src/noun/room/rooms.ts';

const batch = 10_000;

/** The room's files say that they are complete; messages in processed/ are missing, which opening does not check. */
export async function fillRoom(folder: string, about: RoomAbout, count: number): Promise<void> {
  const rooms = openRooms();
  await rooms.open(folder, about);
  await rooms.close();
  const db = openDatabase(folder);
  const meta = new Meta(db);
  const messages = new Messages(db, meta);
  const insert = db.transaction((from: number, last: string | null) => {
    let id = last;
    for (let seq = from; seq < Math.min(from + batch, count + 1); seq += 1) {
      id = ulidAfter(id, Date.now() - 1000);
      const at = new Date().toISOString();
      const about = { mentions: [], replyTo: null, attachments: [], body: `message ${seq} of the room` };
      messages.insert({ seq, id, from: 'ann', at, via: 'cli', ...about }, undefined);
    }
    return id;
  });
  for (let seq = 1, last: string | null = null; seq <= count; seq += batch) last = insert(seq, last);
  for (const name of ['order.log', 'thread.md']) writeFileSync(join(folder, name), Buffer.alloc(count * 40, '\n'));
  const bytes = { orderBytes: count * 40, threadBytes: count * 40 };
  meta.set('views', { bootId: currentBootId(), seq: count, ...bytes });
  db.close();
}
