/** Section `hub` of config.yaml. */
import { z } from 'zod';
import { section } from '../../../kernel/settings/section.ts';
import { type ConfiguredServer, serverNamePattern } from '../../project/model/language.ts';

const defaultIdleMinutes = 30;

const fileType = z
  .string()
  .regex(/^\.?[\w+-][\w.+-]*$/)
  .max(100);
const serverSchema = z.strictObject({
  command: z
    .array(z.string().min(1).max(4096))
    .min(1)
    .max(100)
    .meta({ description: 'The program and its arguments, in the sandbox.', examples: [['ruby-lsp']] }),
  files: z.record(fileType, z.string().min(1).max(100)).meta({
    description: 'The language id of each type of file, by the end of its name or by the whole name.',
    examples: [{ '.rb': 'ruby' }],
  }),
  settings: z
    .record(z.string().max(200), z.unknown())
    .optional()
    .meta({ description: 'What the server gets when it asks for its configuration, by section. Default: none.' }),
  initializationOptions: z
    .unknown()
    .optional()
    .meta({ description: 'What the server gets when it starts. Default: none.' }),
});

const portKeys = ['port', 'address', 'tls', 'rate'];
/** The port belongs to the daemon, not to the hub alone (decision 50). */
const elsewhere: z.core.$ZodErrorMap = (issue) => {
  const key = issue.code === 'unrecognized_keys' ? issue.keys.find((one) => portKeys.includes(one)) : undefined;
  return key && `${key} is not known here: the port is set by http: {${key}: …}`;
};

const schema = z
  .strictObject(
    {
      languageServers: z.record(z.string().regex(serverNamePattern), serverSchema).meta({
        description:
          'Language servers by name, for the tools about code: the command in the sandbox, and the language id of each type of file. They are preferred to known ones; one with the name of a known one replaces it. Default: none.',
        examples: [{ ruby: { command: ['ruby-lsp'], files: { '.rb': 'ruby' } } }],
      }),
      idleMinutes: z
        .number()
        .min(0.01)
        .max(7 * 24 * 60)
        .meta({
          description: 'Time without a tool call after which the sandbox of a project stops.',
          default: defaultIdleMinutes,
          examples: [120],
        }),
    },
    { error: elsewhere },
  )
  .partial()
  .describe('The hub.');

export const hubConfig = [
  section('hub', {
    schema: schema.optional(),
    read: (content) => ({
      hub: {
        idleMinutes: content?.idleMinutes ?? defaultIdleMinutes,
        languageServers: Object.entries(content?.languageServers ?? {}).map(([name, { files, ...rest }]) => {
          return { name, languages: files, ...rest };
        }) satisfies ConfiguredServer[],
      },
    }),
  }),
] as const;
