/** Which of the oldest messages retention moves to the archive. */

import type { Messages, Numbered } from '../database/messages.ts';
import type { Retention } from '../model/room.ts';

const dayMs = 24 * 3600 * 1000;

/** Returns at most `limit` messages, the oldest first. */
export function expired(
  messages: Messages,
  { days, messages: keep }: Retention,
  now: Date,
  limit: number,
): readonly Numbered[] {
  const first = messages.firstSeq();
  const surplus = keep === undefined ? 0 : messages.last().seq - first + 1 - keep;
  const oldest = days === undefined ? null : new Date(now.getTime() - days * dayMs).toISOString();
  const page = messages.from(first, limit);
  const end = page.findIndex(({ seq, at }) => seq - first >= surplus && (oldest === null || at >= oldest));
  return end < 0 ? page : page.slice(0, end);
}
