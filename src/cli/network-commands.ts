/** The commands about what sandboxes reach. */
import { presetNames } from '../model/credential.ts';
import type { CommandEntry, GroupEntry } from './commands.ts';

const area = 'Network:';

export const networkGroups: readonly GroupEntry[] = [
  { name: 'net', area, summary: 'what sandboxes may reach, and what they tried' },
  { name: 'port', area, summary: 'ports of this machine that lead to servers in sandboxes' },
  { name: 'credential', area, summary: 'keys that are added to requests outside of sandboxes' },
];

const netCommands: readonly CommandEntry[] = [
  {
    name: 'net allow',
    area,
    summary: 'let a sandbox reach more, at once',
    args: '<NAME> <RULE...>',
    usage: 'NAME HOST[:PORT]…',
    completes: 'sandbox',
    load: () => import('./command/net-allow.ts'),
  },
  {
    name: 'net deny',
    area,
    summary: 'take rules away again; connections that they allowed are cut',
    args: '<NAME> <RULE...>',
    usage: 'NAME HOST[:PORT]…',
    completes: 'sandbox',
    load: () => import('./command/net-deny.ts'),
  },
  {
    name: 'net explain',
    area,
    summary: 'say what would happen if a sandbox asked for HOST:PORT, and why',
    args: '<NAME> <HOST:PORT>',
    completes: 'sandbox',
    load: () => import('./command/net-explain.ts'),
  },
  {
    name: 'net log',
    area,
    summary: 'show what a sandbox tried to reach',
    args: '<NAME>',
    options: [
      { flags: '-f, --follow', summary: 'go on with what it tries' },
      { flags: '--tail <N>', summary: 'only the last N lines of the record' },
    ],
    completes: 'sandboxes',
    load: () => import('./command/net-log.ts'),
  },
];

const portCommands: readonly CommandEntry[] = [
  {
    name: 'port add',
    area,
    summary: 'have a port of this machine lead to a server in a sandbox',
    args: '<NAME> <PORT>',
    usage: '[options] NAME PORT[:HOSTPORT]',
    options: [{ flags: '--address <ADDRESS>', summary: 'where to listen instead of 127.0.0.1' }],
    completes: 'sandbox',
    load: () => import('./command/port-add.ts'),
  },
  { name: 'port ls', area, summary: 'list ports that lead to sandboxes', load: () => import('./command/port-ls.ts') },
  {
    name: 'port rm',
    area,
    summary: 'have it lead there no more',
    args: '<NAME> <PORT>',
    usage: 'NAME PORT[:HOSTPORT]',
    completes: 'sandbox',
    load: () => import('./command/port-rm.ts'),
  },
];

const credentialCommands: readonly CommandEntry[] = [
  {
    name: 'credential add',
    area,
    summary: 'have a secret added, as a header, to what sandboxes ask of a host',
    args: '<NAME>',
    usage: 'NAME --secret SECRET [options]',
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

export const networkCommands: readonly CommandEntry[] = [...netCommands, ...credentialCommands, ...portCommands];
