/** The commands about shares. */

import type { Area, NameSources } from '../../../client/cli.ts';
import { renderForms, shareNamePattern } from '../model.ts';

const names: NameSources = {
  shares: {
    pattern: shareNamePattern,
    list: async ({ client, signal }) => (await client.call('GET /v1/shares', { signal })).map(({ name }) => name),
  },
};

export const share: Area = {
  heading: 'Shares:',
  groups: [{ name: 'share', summary: 'folders of this machine that several sandboxes, containers and people see' }],
  names,
  commands: [
    {
      name: 'share add',
      summary: 'share a folder, or add consumers to a share',
      args: '<NAME> <FOLDER>',
      fields: { name: 'NAME', folder: 'FOLDER' },
      usage: 'NAME FOLDER [--at CONSUMER=PATH[:ro]]…',
      options: [
        {
          flags: '--at <CONSUMER=PATH>',
          field: 'consumers',
          summary:
            'consumer, and the path at which it sees the folder: a sandbox, project:ID, docker:CONTAINER or lxc:ID with =PATH, or person:LOGIN; add :ro for read-only; may be repeated',
          repeat: true,
        },
      ],
      completes: 'files',
      examples: ['share add data ~/data --at sandbox:ada=/data:ro'],
      load: async () => (await import('./commands.ts')).shareAdd,
    },
    {
      name: 'share ls',
      summary: 'list shares: which consumer sees which folder at which path, and whether it sees it now',
      examples: ['share ls'],
      load: async () => (await import('./commands.ts')).shareLs,
    },
    {
      name: 'share verify',
      summary: 'prove with probe files that consumers and the host see and change each other’s files',
      args: '<NAME> [CONSUMER]',
      fields: { consumer: 'CONSUMER' },
      completes: 'shares',
      examples: ['share verify data'],
      load: async () => (await import('./commands.ts')).shareVerify,
    },
    {
      name: 'share render',
      summary: 'print the lines by which Docker, Compose, LXC or Coolify mount a share',
      args: '<NAME>',
      options: [
        { flags: '--for <PROGRAM>', field: 'for', summary: 'the program that mounts the share', choices: renderForms },
      ],
      completes: 'shares',
      examples: ['share render data --for compose'],
      load: async () => (await import('./commands.ts')).shareRender,
    },
    {
      name: 'share revoke',
      summary: 'revoke a share from one consumer, or from all and remove it; the folder stays',
      args: '<NAME> [CONSUMER]',
      fields: { consumer: 'CONSUMER' },
      options: [{ flags: '--force', summary: 'stop sandboxes that have files of it open' }],
      completes: 'shares',
      examples: ['share revoke data', 'share revoke data sandbox:ada'],
      load: async () => (await import('./commands.ts')).shareRevoke,
    },
  ],
};
