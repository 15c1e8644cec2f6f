/** Sections `rooms` and `webhooks` of config.yaml. */
import { z } from 'zod';
import { type At, bytes, section, sizeKey } from '../../../kernel/settings/section.ts';
import { Fault } from '../../../model/fault.ts';
import { defaultRoomLimits as defaults, type RoomLimits, roomNamePattern, roomNameRule } from '../model/room.ts';
import { type Webhook, webhookNamePattern } from '../model/webhook.ts';

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

const headerName = (description: string, example: string) =>
  z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, 'A header has 1 to 64 letters, digits and "-", and starts with a letter.')
    .meta({ description, examples: [example] });
const webhook = z.strictObject({
  room: z
    .string()
    .regex(roomNamePattern, roomNameRule)
    .meta({ description: 'The room of its messages.', examples: ['plans'] }),
  verify: z.enum(['twilio', 'hmac', 'bearer']).meta({
    description:
      'How a request is checked: the signature of Twilio, a header with the HMAC-SHA256 of the body, or the secret as a bearer token.',
    examples: ['twilio'],
  }),
  secret: z
    .string()
    .min(1)
    .max(64)
    .meta({ description: 'The secret that requests are checked with.', examples: ['twilio-token'] }),
  url: z
    .url({ protocol: /^https?$/, error: 'use an address that begins with http:// or https://' })
    .max(2000)
    .meta({
      description: 'For twilio: its address as Twilio has it. Default: none.',
      examples: ['https://example.org/hooks/sms'],
    })
    .optional(),
  header: headerName('For hmac: the header with the HMAC. Default: x-hub-signature-256.', 'x-sig').optional(),
  timestamp: headerName(
    'For hmac: a header with the time, which is signed as TIMESTAMP.BODY. Default: none.',
    'x-time',
  ).optional(),
});
const webhooks = z.record(z.string().regex(webhookNamePattern), webhook).meta({
  description: 'Requests to /hooks/NAME of the port (see http) that become messages of a room.',
  examples: [
    { sms: { room: 'plans', verify: 'twilio', secret: 'twilio-token', url: 'https://example.org/hooks/sms' } },
  ],
});

function webhookOf(name: string, { verify, url, header, timestamp, ...rest }: z.output<typeof webhook>): Webhook {
  if ((url !== undefined) !== (verify === 'twilio')) throw new Fault('invalid', 'url goes with verify: twilio');
  if (verify !== 'hmac' && (header ?? timestamp) !== undefined) {
    throw new Fault('invalid', 'header and timestamp go with verify: hmac');
  }
  const common = { name, ...rest };
  if (verify === 'twilio') return { ...common, verify, url: url! };
  if (verify === 'bearer') return { ...common, verify };
  const names = {
    header: (header ?? 'x-hub-signature-256').toLowerCase(),
    timestamp: timestamp?.toLowerCase() ?? null,
  };
  return { ...common, verify, ...names };
}

const mostBytes = 8 * 1024 ** 2;

export const roomConfig = [
  section('rooms', {
    schema: schema.optional(),
    read: (content, at) => ({ roomLimits: limitsOf(content ?? {}, at) }),
    atStart: { roomLimits: 'rooms' },
  }),
  section('webhooks', {
    schema: webhooks.optional(),
    read: (content, at) => {
      const entries = Object.entries(content ?? {});
      return { webhooks: entries.map(([name, entry]) => at(`webhooks.${name}`, () => webhookOf(name, entry))) };
    },
  }),
] as const;

function limitsOf({ body, attachmentSize, ...counts }: z.output<typeof schema>, at: At): RoomLimits {
  const configured = Object.entries(counts).filter(([, value]) => value !== undefined);
  return {
    ...defaults,
    ...Object.fromEntries(configured),
    bodyBytes: Math.min(
      mostBytes,
      at('rooms.body', () => bytes(body ?? defaults.bodyBytes, 'rooms.body')),
    ),
    attachmentBytes: at('rooms.attachmentSize', () =>
      bytes(attachmentSize ?? defaults.attachmentBytes, 'rooms.attachmentSize'),
    ),
  };
}
