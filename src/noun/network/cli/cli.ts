/** The commands about the network of sandboxes. */

import type { Area, CommandEntry, GroupEntry, NameSources } from '../../../client/cli.ts';
import { credentialNamePattern, presetNames } from '../model/credential.ts';

const groups: readonly GroupEntry[] = [
  { name: 'net', summary: 'network rules of sandboxes, and the log of connections' },
  { name: 'port', summary: 'forward ports of this machine to servers in sandboxes' },
  { name: 'credential', summary: 'keys that the proxy adds to requests, so that sandboxes never hold them' },
];

const netCommands: readonly CommandEntry[] = [
  {
    name: 'net allow',
    summary: 'allow a sandbox to connect to more hosts, at once',
    args: '<NAME> <RULE...>',
    fields: { allow: 'RULE' },
    usage: 'NAME HOST[:PORT]…',
    completes: 'sandbox',
    examples: ['net allow ada example.com:443', 'net allow ada npm'],
    load: async () => (await import('./commands.ts')).netAllow,
  },
  {
    name: 'net deny',
    summary: 'remove rules of a sandbox and close the connections they allowed',
    args: '<NAME> <RULE...>',
    fields: { deny: 'RULE' },
    usage: 'NAME HOST[:PORT]…',
    completes: 'sandbox',
    examples: ['net deny ada example.com:443'],
    load: async () => (await import('./commands.ts')).netDeny,
  },
  {
    name: 'net presets',
    summary: 'list names for the hosts that tools need, for --network and net allow',
    examples: ['net presets', 'run --network npm,github . -- npm ci'],
    load: async () => (await import('./commands.ts')).netPresets,
  },
  {
    name: 'net explain',
    summary: 'show whether a sandbox may connect to HOST:PORT, and why; without NAME, a new one',
    args: '<NAME> [HOST:PORT]',
    usage: '[NAME] HOST[:PORT]',
    examples: ['net explain registry.npmjs.org', 'net explain agent github.com:22'],
    fields: { asked: 'HOST:PORT' },
    completes: 'sandbox',
    load: async () => (await import('./explain.ts')).netExplain,
  },
  {
    name: 'net follow',
    summary: 'show connections as they are tried; at a terminal, a key allows what was refused',
    args: '[NAME]',
    completes: 'sandbox',
    examples: ['net follow', 'net follow agent'],
    load: async () => (await import('./follow.ts')).netFollow,
  },
  {
    name: 'net log',
    summary: 'show the connections that a sandbox tried',
    args: '<NAME>',
    options: [
      { flags: '-f, --follow', summary: 'keep printing new connections' },
      { flags: '--tail <N>', field: 'tail', summary: 'only the last N lines' },
    ],
    completes: 'sandboxes',
    examples: ['net log ada --tail 20', 'net log ada --follow'],
    load: async () => (await import('./log.ts')).netLog,
  },
];

const portCommands: readonly CommandEntry[] = [
  {
    name: 'port add',
    summary: 'forward a port of this machine to a server in a sandbox',
    args: '<NAME> <PORT>',
    fields: { port: 'PORT', hostPort: 'PORT' },
    usage: '[options] NAME PORT[:HOSTPORT]',
    options: [
      { flags: '--address <ADDRESS>', field: 'hostAddress', summary: 'address to listen on (default 127.0.0.1)' },
    ],
    completes: 'sandbox',
    examples: ['port add web 3000', 'port add web 3000:8080'],
    load: async () => (await import('./commands.ts')).portAdd,
  },
  {
    name: 'port ls',
    summary: 'list forwarded ports',
    examples: ['port ls'],
    load: async () => (await import('./commands.ts')).portLs,
  },
  {
    name: 'port rm',
    summary: 'stop forwarding a port',
    args: '<NAME> <PORT>',
    fields: { port: 'PORT', hostPort: 'PORT' },
    usage: 'NAME PORT[:HOSTPORT]',
    completes: 'sandbox',
    examples: ['port rm web 3000:8080'],
    load: async () => (await import('./commands.ts')).portRm,
  },
];

const credentialCommands: readonly CommandEntry[] = [
  {
    name: 'credential add',
    summary: 'let the proxy add a secret as a header to requests to one host',
    args: '<NAME>',
    fields: { name: 'NAME' },
    usage: 'NAME --secret SECRET [options]',
    options: [
      { flags: '--secret <NAME>', field: 'secret', summary: 'secret that holds the key', completes: 'secrets' },
      {
        flags: '--preset <PRESET>',
        field: 'preset',
        summary: 'known service, instead of --host, --header and --format',
        choices: presetNames,
      },
      {
        flags: '--host <HOST>',
        field: 'host',
        summary:
          'the one host it is sent to, over TLS; HOST:PORT if the port is not 443; http://HOST:PORT for a gateway without TLS',
      },
      { flags: '--header <HEADER>', field: 'header', summary: 'name of the header, such as authorization' },
      {
        flags: '--format <FORMAT>',
        field: 'format',
        summary: 'value of the header, {} is the secret, such as "Bearer {}" (default {})',
      },
    ],
    examples: [
      'credential add claude --preset anthropic --secret ANTHROPIC_API_KEY',
      'credential add local --preset openai --host http://127.0.0.1:4000 --secret GATEWAY_KEY',
    ],
    load: async () => (await import('./credential-commands.ts')).credentialAdd,
  },
  {
    name: 'credential ls',
    summary: 'list credentials and their hosts, without the keys',
    examples: ['credential ls'],
    load: async () => (await import('./credential-commands.ts')).credentialLs,
  },
  {
    name: 'credential rm',
    summary: 'remove a credential that no sandbox uses; the secret is kept',
    args: '<NAME>',
    completes: 'credentials',
    examples: ['credential rm claude'],
    load: async () => (await import('./credential-commands.ts')).credentialRm,
  },
];

const commands: readonly CommandEntry[] = [...netCommands, ...credentialCommands, ...portCommands];

const names: NameSources = {
  credentials: {
    pattern: credentialNamePattern,
    list: async ({ client, signal }) => (await client.call('GET /v1/credentials', { signal })).map(({ name }) => name),
  },
};

export const network: Area = { heading: 'Network:', groups, commands, names };
