/** Of config.yaml: limits of rooms. */
import { z } from 'zod';
import { defaultRoomLimits as defaults, type RoomLimits } from '../../model/room.ts';
import { type At, bytes, section, sizeKey } from '../section.ts';

const count = (description: string, value: number, most: number, example: number) =>
  z
    .int()
    .min(1)
    .max(most)
    .meta({ description, default: value, examples: [example] });

const schema = z
  .strictObject({
    body: sizeKey('The text of one message, at most 8m.', defaults.bodyBytes, '64k'),
    attachments: count('Attachments of one message.', defaults.attachments, 1000, 4),
    attachmentSize: sizeKey('All attachments of one message together.', defaults.attachmentBytes, '32m'),
    mentions: count('Mentions in one message.', defaults.mentions, 1000, 8),
    participants: count('Participants of one room.', defaults.participants, 100_000, 50),
    messagesPerSecond: count('Messages of one participant a second.', defaults.messagesPerSecond, 1_000_000, 10),
    burst: count('Messages of one participant before that rate applies.', defaults.burst, 1_000_000, 100),
  })
  .partial()
  .describe('Limits of rooms.');

const mostBytes = 8 * 1024 ** 2;

export const roomConfig = [
  section('rooms', {
    schema: schema.optional(),
    read: (content, at) => ({ roomLimits: limitsOf(content ?? {}, at) }),
    atStart: { roomLimits: 'rooms' },
  }),
] as const;

function limitsOf({ body, attachmentSize, ...counts }: z.output<typeof schema>, at: At): RoomLimits {
  const said = Object.entries(counts).filter(([, value]) => value !== undefined);
  return {
    ...defaults,
    ...Object.fromEntries(said),
    bodyBytes: Math.min(
      mostBytes,
      at('rooms.body', () => bytes(body ?? defaults.bodyBytes, 'rooms.body')),
    ),
    attachmentBytes: at('rooms.attachmentSize', () =>
      bytes(attachmentSize ?? defaults.attachmentBytes, 'rooms.attachmentSize'),
    ),
  };
}
