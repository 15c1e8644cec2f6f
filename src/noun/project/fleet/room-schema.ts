/** The keys of `rooms` in a carrel.yaml. */
import { z } from 'zod';
import { participantNamePattern, roomNamePattern, roomNameRule } from '../../room/model/room.ts';
import { wakeCommands } from '../../room/model/watch.ts';
import { argv, isShort, maxEntries, secretName } from './field.ts';

const [agent, ...agents] = Object.keys(wakeCommands) as [string, ...string[]];

const watch = z
  .strictObject({
    wake: z
      .union([z.enum([agent, ...agents]), argv], `${[agent, ...agents].join(', ')}, or a command as a list`)
      .optional()
      .meta({
        description:
          'Starts the sandbox of the same name and runs this agent, or this command, in it with the message on stdin; its output is posted as the answer. Default: none.',
      }),
    run: argv.optional().meta({
      description:
        'Runs this program on the machine itself, with the message on stdin. For the owner of the installation. Default: none.',
    }),
    webhook: z
      .url({ protocol: /^https?$/, error: 'use an address that begins with http:// or https://' })
      .max(2000)
      .optional()
      .meta({
        description: 'Sends the message to this address. For the owner of the installation. Default: none.',
      }),
    secret: secretName.optional().meta({
      description: 'The entry of `secrets` that signs what the webhook gets. Default: it is not signed.',
    }),
    all: z.boolean().optional().meta({
      description: 'Handles every message, not only those that mention it.',
      default: false,
    }),
  })
  .refine(({ wake, run, webhook }) => [wake, run, webhook].filter((one) => one !== undefined).length === 1, {
    message: 'name one of wake, run and webhook',
  })
  .refine(({ webhook, secret }) => secret === undefined || webhook !== undefined, {
    message: 'a secret signs what a webhook gets, and there is no webhook',
    path: ['secret'],
  });

const participant = z
  .string()
  .regex(participantNamePattern, 'use 1 to 64 letters, digits and "._:+-", not ending with ".", ":" or "-"')
  .refine((name) => name !== 'all', 'all means all participants');

const room = z.strictObject({
  watch: z
    .record(participant, watch)
    .refine((entries) => Object.keys(entries).length <= 50, 'at most 50')
    .optional()
    .describe(
      'Watchers by the participant whose mentions they handle. `carrel up` adds, changes and removes those of this fleet.',
    ),
});

export const rooms = z
  .record(z.string().regex(roomNamePattern, roomNameRule), room.nullable())
  .refine(isShort, `at most ${maxEntries}`)
  .optional()
  .meta({
    description: 'Rooms by name. `carrel up` creates those that are missing and removes none.',
    examples: [
      {
        team: {
          watch: {
            ada: { wake: 'claude' },
            log: { run: ['logger', '-t', 'team'], all: true },
            chat: { webhook: 'https://example.org/in', secret: 'NPM_TOKEN' },
          },
        },
      },
    ],
  });

export type WatchContent = z.output<typeof watch>;
export type RoomsContent = NonNullable<z.output<typeof rooms>>;
