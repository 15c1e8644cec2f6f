/** Prints messages of a room. */
import { watch } from 'node:fs';
import type { ReadMessage, RoomFiles } from './inside.ts';
import { lastNames, OrderLog } from './order-log.ts';

export interface ReadOutput {
  readonly isJson: boolean;
}

/** Prints the last messages, or the unread ones, and marks them as read. */
export function read(
  room: RoomFiles,
  options: ReadOutput & { readonly isUnread: boolean; readonly limit: number },
): void {
  if (!options.isUnread) {
    show(room, lastNames(room.orderLog, options.limit), options);
    return;
  }
  const log = new OrderLog(room.orderLog, room.position);
  try {
    for (let left = options.limit, names = log.next(); left > 0 && names.length > 0; names = log.next()) {
      show(room, names.slice(0, left), options);
      left -= names.length;
    }
  } finally {
    log.close();
  }
}

/** Poll interval, for filesystems where inotify does not report changes. */
const lookMs = 1000;

/** Follows from the read position, or, without one, from the present end. `isAll`: from the first message. */
export function follow(room: RoomFiles, options: ReadOutput & { readonly isAll: boolean }): void {
  const last = lastNames(room.orderLog, 1)[0]?.slice(0, 26) ?? null;
  const log = new OrderLog(room.orderLog, options.isAll ? null : (room.position ?? last));
  const look = () => {
    for (let names = log.next(); names.length > 0; names = log.next()) show(room, names, options);
  };
  setInterval(look, lookMs);
  try {
    watch(room.folder, (_, name) => {
      if (name === null || name === 'order.log') look();
    }).on('error', () => {});
  } catch {
    // No inotify watches are left, ignoring: the interval still polls.
  }
  look();
}

function show(room: RoomFiles, names: readonly string[], { isJson }: ReadOutput): void {
  for (const name of names) {
    const message = room.message(name);
    if (message !== null) process.stdout.write(isJson ? `${JSON.stringify(message)}\n` : textOf(message));
  }
  const last = names.at(-1);
  if (last !== undefined) room.setPosition(last.slice(0, 26));
}

/** Control characters, which a terminal would execute. */
const controls = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

function textOf({ id, from, at, replyTo, attachments, body }: ReadMessage): string {
  const about = [
    from,
    at,
    id,
    ...(replyTo === null ? [] : [`reply to ${replyTo}`]),
    ...(attachments.length === 0 ? [] : [`attachments/${id}/: ${attachments.join(', ')}`]),
  ];
  const lines = body.replace(/\n$/, '').split('\n');
  return `${about.join('  ')}\n${lines.map((line) => `  ${line}\n`).join('')}\n`.replaceAll(controls, '');
}

const maxCounted = 1000;

/** The number of unread messages, at most a thousand. */
export function unread(room: RoomFiles): number {
  const log = new OrderLog(room.orderLog, room.position);
  try {
    let count = 0;
    for (let names = log.next(); names.length > 0 && count < maxCounted; names = log.next()) count += names.length;
    return Math.min(count, maxCounted);
  } finally {
    log.close();
  }
}
