/** The commands about shares. */
import { shareNamePattern } from '../../model/share.ts';
import type { Area, NameSources } from '../cli.ts';

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
            'who sees it where: a sandbox, project:ID, docker:CONTAINER or lxc:ID with =PATH, or person:LOGIN; add :ro for read-only; may be repeated',
          repeat: true,
        },
      ],
      completes: 'files',
      load: () => import('./share-add.ts'),
    },
    {
      name: 'share ls',
      summary: 'list shares: who sees what where, and whether that is so now',
      load: () => import('./share-ls.ts'),
    },
    {
      name: 'share revoke',
      summary: 'take a share from a consumer, or from all and forget it; the folder stays',
      args: '<NAME> [CONSUMER]',
      fields: { consumer: 'CONSUMER' },
      options: [{ flags: '--force', summary: 'stop sandboxes that have files of it open' }],
      completes: 'shares',
      load: () => import('./share-revoke.ts'),
    },
  ],
};
