/** The commands about what sandboxes reach. */
import { presetNames } from '../../model/credential.ts';
import type { Area, CommandEntry, GroupEntry } from '../cli.ts';

const groups: readonly GroupEntry[] = [
  { name: 'net', summary: 'what sandboxes may reach, and what they tried' },
  { name: 'port', summary: 'ports of this machine that lead to servers in sandboxes' },
  { name: 'credential', summary: 'keys that are added to requests outside of sandboxes' },
];

const netCommands: readonly CommandEntry[] = [
  {
    name: 'net allow',
    summary: 'let a sandbox reach more, at once',
    args: '<NAME> <RULE...>',
    fields: { allow: 'RULE' },
    usage: 'NAME HOST[:PORT]…',
    completes: 'sandbox',
    load: () => import('./net-allow.ts'),
  },
  {
    name: 'net deny',
    summary: 'take rules away again; connections that they allowed are cut',
    args: '<NAME> <RULE...>',
    fields: { deny: 'RULE' },
    usage: 'NAME HOST[:PORT]…',
    completes: 'sandbox',
    load: () => import('./net-deny.ts'),
  },
  {
    name: 'net explain',
    summary: 'say what would happen if a sandbox asked for HOST:PORT, and why',
    args: '<NAME> <HOST:PORT>',
    fields: { asked: 'HOST:PORT' },
    completes: 'sandbox',
    load: () => import('./net-explain.ts'),
  },
  {
    name: 'net log',
    summary: 'show what a sandbox tried to reach',
    args: '<NAME>',
    options: [
      { flags: '-f, --follow', summary: 'go on with what it tries' },
      { flags: '--tail <N>', field: 'tail', summary: 'only the last N lines of the record' },
    ],
    completes: 'sandboxes',
    load: () => import('./net-log.ts'),
  },
];

const portCommands: readonly CommandEntry[] = [
  {
    name: 'port add',
    summary: 'have a port of this machine lead to a server in a sandbox',
    args: '<NAME> <PORT>',
    fields: { port: 'PORT', hostPort: 'PORT' },
    usage: '[options] NAME PORT[:HOSTPORT]',
    options: [{ flags: '--address <ADDRESS>', field: 'hostAddress', summary: 'where to listen instead of 127.0.0.1' }],
    completes: 'sandbox',
    load: () => import('./port-add.ts'),
  },
  { name: 'port ls', summary: 'list ports that lead to sandboxes', load: () => import('./port-ls.ts') },
  {
    name: 'port rm',
    summary: 'have it lead there no more',
    args: '<NAME> <PORT>',
    fields: { port: 'PORT', hostPort: 'PORT' },
    usage: 'NAME PORT[:HOSTPORT]',
    completes: 'sandbox',
    load: () => import('./port-rm.ts'),
  },
];

const credentialCommands: readonly CommandEntry[] = [
  {
    name: 'credential add',
    summary: 'have a secret added, as a header, to what sandboxes ask of a host',
    args: '<NAME>',
    fields: { name: 'NAME' },
    usage: 'NAME --secret SECRET [options]',
    options: [
      { flags: '--secret <NAME>', field: 'secret', summary: 'the secret that is the key', completes: 'secrets' },
      {
        flags: '--preset <PRESET>',
        field: 'preset',
        summary: 'a service we know, with all that follows',
        choices: presetNames,
      },
      {
        flags: '--host <HOST>',
        field: 'host',
        summary: 'the only host it goes to, over TLS; HOST:PORT where that is not 443',
      },
      { flags: '--header <HEADER>', field: 'header', summary: 'the header it goes in, such as authorization' },
      {
        flags: '--format <FORMAT>',
        field: 'format',
        summary: 'what the header says, {} being the secret, such as "Bearer {}" (default {})',
      },
    ],
    load: () => import('./credential-add.ts'),
  },
  {
    name: 'credential ls',
    summary: 'list credentials and where they go, never the keys',
    load: () => import('./credential-ls.ts'),
  },
  {
    name: 'credential rm',
    summary: 'forget a credential that no sandbox was given; the secret stays',
    args: '<NAME>',
    completes: 'credentials',
    load: () => import('./credential-rm.ts'),
  },
];

const commands: readonly CommandEntry[] = [...netCommands, ...credentialCommands, ...portCommands];

export const network: Area = { heading: 'Network:', groups, commands };
