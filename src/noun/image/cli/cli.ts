/** The commands about images. */
import type { Area, CommandEntry, GroupEntry, NameSources } from '../../../client/cli.ts';

const groups: readonly GroupEntry[] = [{ name: 'image', summary: 'images for sandboxes on a Docker Engine' }];

const commands: readonly CommandEntry[] = [
  {
    name: 'image build',
    summary: 'build the image of a project if its inputs changed; without PROJECT, the base image',
    args: '[PROJECT]',
    fields: { project: 'PROJECT' },
    options: [
      { flags: '--hub', field: 'hub', summary: 'the image of the hub that carrel compose renders, instead' },
      { flags: '--offline', summary: 'build without network' },
    ],
    completes: 'files',
    examples: ['image build .', 'image build . --offline'],
    load: async () => (await import('./commands.ts')).imageBuild,
  },
  {
    name: 'image ls',
    summary: 'list images for --image',
    examples: ['image ls'],
    load: async () => (await import('./commands.ts')).imageLs,
  },
  {
    name: 'image rm',
    summary: 'remove an image that was built here and that no sandbox uses',
    args: '<NAME>',
    fields: { name: 'NAME' },
    completes: 'images',
    examples: ['image rm carrel-sandbox-acme-shop'],
    load: async () => (await import('./commands.ts')).imageRm,
  },
];

const names: NameSources = {
  images: {
    pattern: /^[a-z0-9][a-z0-9._:/-]*$/,
    list: async ({ client, signal }) => (await client.call('GET /v1/images', { signal })).map(({ name }) => name),
  },
};

export const image: Area = { heading: 'Storage and people:', groups, commands, names };
