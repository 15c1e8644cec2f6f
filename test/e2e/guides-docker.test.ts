// @needs root
// @takes 35 s
/** The commands of the guides about Docker, fleets and shares as they stand there, on a real dockerd. */
import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';
import { run } from '../../src/lib/process/run.ts';
import { type Dockerd, image } from '../harness/dockerd.ts';
import { importParent } from '../harness/parent-image.ts';
import { type Guide, type Page, runsEachCommand } from './guide.ts';
import { putManifest, withDocker } from './guide-docker.ts';

/** A fake `pct` of Proxmox: its guest 100 sees the share at its mount point, and has the ids of the machine. */
const pct = `#!/bin/sh
shift 3
exec unshare --mount --propagation private -- sh -ec '
  mount -t tmpfs none /mnt; mkdir /mnt/rooms; mount --bind /srv/rooms /mnt/rooms
  exec "$@"' sh "$@"
`;

/** Imports a busybox that names itself Debian. */
async function importDebian(guide: Guide, dockerd: Dockerd): Promise<void> {
  const root = guide.carrel.folder('debian');
  for (const name of ['bin', 'etc']) mkdirSync(join(root, name));
  copyFileSync('/bin/busybox', join(root, 'bin/busybox'));
  for (const name of ['cat', 'sh']) symlinkSync('busybox', join(root, 'bin', name));
  writeFileSync(join(root, 'etc/os-release'), 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n');
  await run(['tar', '-C', root, '-cf', `${root}.tar`, '.']);
  await dockerd.docker('import', `${root}.tar`, 'debian:12');
}

let aims: Dockerd;

const pages: Page[] = [
  {
    file: 'docs/docker.md',
    prepare: async (guide) => {
      const dockerd = await withDocker(guide);
      await importDebian(guide, dockerd);
      await importParent(dockerd, 'parent');
      const { project } = guide;
      putManifest(guide, 'shop');
      project.git('init', '-q', 'shop');
      project.git('-C', 'shop', 'remote', 'add', 'origin', 'https://github.com/acme/shop.git');
    },
    ways: {
      'carrel run --engine docker --image debian:12 . -- cat /etc/os-release': { shows: /bookworm/ },
      'carrel image build shop': {
        types: [],
        shows:
          /building carrel-sandbox-acme-shop[\s\S]*\d\/5 FROM carrel-sandbox:base[\s\S]*built in \d+ s; use it with/,
      },
      'carrel run --engine docker --image carrel-sandbox-acme-shop shop -- npm test': { shows: /^npm test$/m },
      'carrel image ls': { shows: /carrel-sandbox-acme-shop/ },
    },
  },
  {
    file: 'docs/fleet.md',
    folder: 'my-projects',
    prepare: async (guide) => {
      await withDocker(guide);
      guide.project.put('app/package.json', '{}\n');
      guide.project.put('api/go.mod', 'module api\n');
    },
    ways: {},
  },
  {
    file: 'docs/shares.md',
    prepare: async (guide) => {
      aims = await withDocker(guide);
      guide.carrel.folder('bin');
      guide.carrel.write('bin/pct', pct);
      chmodSync(join(guide.home, 'bin/pct'), 0o755);
      guide.variables.PATH = join(guide.home, 'bin');
    },
    ways: {
      'carrel share verify rooms': {
        before: async (guide) => {
          const [options] = (await guide.ok('carrel share render rooms --for docker')).split('\n');
          await aims.docker('run', '-d', '--name', 'aim', ...options!.split(' '), image, 'sleep', '1000');
        },
        shows: /^ada .* verified\s+docker:aim .* verified\s+lxc:100 .* verified\s+person:jo .* verified$/m,
      },
      'carrel share render rooms --for docker': {
        before: (guide) =>
          guide.ok('carrel share add rooms /srv/rooms --at docker:aim=/app/rooms --at lxc:100=/mnt/rooms'),
      },
    },
  },
];

describe.each(pages)('$file', (page) => runsEachCommand(page));
