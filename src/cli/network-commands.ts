/** The commands about what sandboxes reach. */
import { presetNames } from '../model/credential.ts';
import type { CommandEntry, GroupEntry } from './commands.ts';

const area = 'Network:';

export const networkGroups: readonly GroupEntry[] = [
  { name: 'credential', area, summary: 'keys that are added to requests outside of sandboxes' },
];

export const networkCommands: readonly CommandEntry[] = [
  {
    name: 'credential add',
    area,
    summary: 'have a secret added, as a header, to what sandboxes ask of a host',
    args: '<NAME>',
    usage: 'NAME --secret SECRET [--preset PRESET] [--host HOST] [--header HEADER] [--format FORMAT]',
    options: [
      { flags: '--secret <NAME>', summary: 'the secret that is the key', completes: 'secrets' },
      { flags: '--preset <PRESET>', summary: 'a service we know, with all that follows', choices: presetNames },
      { flags: '--host <HOST>', summary: 'the only host it goes to, over TLS; HOST:PORT where that is not 443' },
      { flags: '--header <HEADER>', summary: 'the header it goes in, such as authorization' },
      {
        flags: '--format <FORMAT>',
        summary: 'what the header says, {} being the secret, such as "Bearer {}" (default {})',
      },
    ],
    load: () => import('./command/credential-add.ts'),
  },
  {
    name: 'credential ls',
    area,
    summary: 'list credentials and where they go, never the keys',
    load: () => import('./command/credential-ls.ts'),
  },
  {
    name: 'credential rm',
    area,
    summary: 'forget a credential that no sandbox was given; the secret stays',
    args: '<NAME>',
    completes: 'credentials',
    load: () => import('./command/credential-rm.ts'),
  },
];
