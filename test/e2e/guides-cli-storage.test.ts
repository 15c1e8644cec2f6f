// @needs root
// @needs all
/** The examples of docs/cli.md about volumes, secrets, images and users as they stand there. */
import { describe } from 'vitest';
import { importParent } from '../harness/parent-image.ts';
import { type Page, runsEachCommand } from './guide.ts';
import { putManifest, withDocker } from './guide-docker.ts';

const pages: Page[] = [
  {
    file: 'docs/cli.md',
    section: 'Storage and people',
    prepare: async (guide) => {
      const dockerd = await withDocker(guide);
      await importParent(dockerd, 'parent');
      putManifest(guide, '.');
      guide.project.git('init', '-q');
      guide.project.git('remote', 'add', 'origin', 'https://github.com/acme/shop.git');
      guide.carrel.folder('old-volumes');
      guide.project.put('key', 'sk-real\n');
      guide.project.put('carrel.yaml', 'name: shop\nengine: docker\nimage: debian:12\nsandboxes:\n  web: {}\n');
    },
    ways: {
      'carrel volume clean cache --yes': { before: ({ carrel }) => carrel.ok('volume', 'create', 'cache') },
      'carrel volume restore home.tar.gz': {
        before: (guide) => guide.ok('cp "$(carrel volume backup home)" home.tar.gz'),
      },
      'carrel home shell': { types: [[/[$#]\s*$/, 'exit\r']] },
    },
  },
];

describe.each(pages)('$section', (page) => runsEachCommand(page));
