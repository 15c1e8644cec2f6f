import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Places } from '../../../kernel/home/places.ts';
import type { Mount } from '../../../model/mount.ts';
import type { Sandbox } from '../model.ts';
import type { SandboxPart } from '../part/part.ts';

/** The folders that are kept as long as the sandbox: its data, and its home, an overlay over the home of its user. */
export const folders: SandboxPart = {
  additions: (sandbox, places) => ({
    mounts: [
      { kind: 'bind', source: join(places.state(sandbox.id), 'data'), target: '/.data', readonly: false, own: true },
      homeOf(sandbox, places),
    ],
  }),
  prepare: ({ id, spec }, places) => {
    mkdirSync(places.userHome(spec.user), { recursive: true, mode: 0o700 });
    const names = spec.sharedHome ? ['data'] : places.overlays ? ['data', 'home/upper', 'home/work'] : ['data', 'home'];
    for (const name of names) mkdirSync(join(places.state(id), name), { recursive: true, mode: 0o700 });
    if (!places.overlays && !spec.sharedHome) copyHome(places.userHome(spec.user), join(places.state(id), 'home/tree'));
  },
};

function homeOf(sandbox: Sandbox, places: Places): Mount {
  if (sandbox.spec.sharedHome) return sharedHome(sandbox, places);
  return places.overlays ? overHome(sandbox, places) : copiedHome(sandbox, places);
}

/** The user's home volume itself, mounted like any other volume. */
function sharedHome({ spec }: Sandbox, places: Places): Mount {
  const source = places.userHome(spec.user);
  return { kind: 'bind', source, target: '/home/agent', readonly: false, volume: basename(source), mapOwner: true };
}

function overHome({ id, spec }: Sandbox, places: Places): Mount {
  return {
    kind: 'overlay',
    lower: places.userHome(spec.user),
    folder: join(places.state(id), 'home'),
    target: '/home/agent',
    // Without root, mapping would give `agent` the id of the account of the daemon, even without a project.
    mapOwner: !places.rootless,
  };
}

/** The home as a copy, on a filesystem that cannot hold an overlay, such as an overlay itself. */
function copiedHome({ id }: Sandbox, places: Places): Mount {
  const source = join(places.state(id), 'home/tree');
  return { kind: 'bind', source, target: '/home/agent', readonly: false, own: true };
}

function copyHome(from: string, to: string): void {
  if (existsSync(to)) return;
  rmSync(`${to}.new`, { recursive: true, force: true });
  execFileSync('cp', ['-a', '--no-preserve=ownership', '--', from, `${to}.new`]);
  renameSync(`${to}.new`, to);
}
