/** Watchers of rooms: what a message to a participant makes the daemon do. */
import { everyone } from './mention.ts';
import type { RoomMessage } from './room.ts';

export type WatchAction =
  /** A program of the host, with the message on stdin. */
  | { readonly kind: 'run'; readonly argv: readonly string[] }
  /** A POST of the message, signed with the secret if there is one. */
  | { readonly kind: 'webhook'; readonly url: string; readonly secret: string | null }
  /** A program in the sandbox of the watcher's name, with the message on stdin; its output is posted as the answer. */
  | { readonly kind: 'wake'; readonly argv: readonly string[] };

/** The row of a watcher. */
export interface RoomWatch {
  /** The id of the room's row. */
  readonly room: string;
  /** The participant whose mentions it handles. */
  readonly who: string;
  readonly action: WatchAction;
  /** Every message, not mentions only. */
  readonly isForAll: boolean;
  /** The fleet that declares it; null or absent: none does. */
  readonly fleet?: string | null;
  readonly createdAt: string;
  /** Why it does not handle messages now; null: it does. */
  readonly paused: string | null;
  /** The last message that it has handled or skipped. */
  readonly position: string | null;
  /** The message that it handles now. */
  readonly delivery: { readonly id: string; readonly attempts: number } | null;
  readonly handled: number;
  /** The number of messages that it could not handle and skipped. */
  readonly failed: number;
  /** The times at which it woke its sandbox within the last hour. */
  readonly wakes: readonly string[];
}

export const maxAttempts = 6;
/** The most answers of watchers to answers of watchers, one after another. */
export const maxChain = 8;
export const maxWakesPerHour = 60;

/**
 * Whether a message is for a watcher: `@sms:+49…` is for the watcher `sms`. A watcher never handles its own messages.
 */
export function isFor({ who, isForAll }: RoomWatch, { from, mentions }: RoomMessage): boolean {
  if (isNamed(who, from)) return false;
  return isForAll || mentions.some((name) => name === everyone || isNamed(who, name));
}

function isNamed(who: string, name: string): boolean {
  return name === who || name.startsWith(`${who}:`);
}

/** The wake-ups within the last hour. */
export function recentWakes({ wakes }: RoomWatch, now: string): string[] {
  const hourAgo = new Date(Date.parse(now) - 3_600_000).toISOString();
  return wakes.filter((at) => at > hourAgo && at <= now);
}

/** Agents that read a prompt from stdin and print their answer, by name. */
export const wakeCommands: Readonly<Record<string, readonly string[]>> = {
  claude: ['claude', '-p', '--permission-mode', 'bypassPermissions'],
  codex: ['codex', 'exec', '--dangerously-bypass-approvals-and-sandbox', '-'],
};

/** The prompt of an agent that was woken. */
export function promptFor(room: string, who: string, { id, from, body }: RoomMessage): string {
  return [
    `You are ${who}, a participant of the room ${room}. The message below was posted there by ${from} (id ${id}).`,
    `Do what it asks for, as far as it concerns you. What you print at the end is posted to the room as your answer.`,
    `Earlier messages are in /rooms/${room}/thread.md, if you have the room.`,
    '',
    body,
    '',
  ].join('\n');
}
