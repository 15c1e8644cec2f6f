import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Places } from '../../../kernel/home/places.ts';
import type { MountPlaces } from '../../../model/grant.ts';
import type { Mount } from '../../../model/mount.ts';
import { grantTable } from '../../grant-table.ts';
import type { Sandbox } from '../model.ts';
import type { SandboxPart } from '../part/part.ts';

/** Mounts and variables of all grants of a sandbox, as each kind of grant declares them. */
export const grants: SandboxPart = {
  additions: (sandbox, places) => {
    const kinds = grantTable.filter(([field]) => sandbox.spec[field]?.length);
    return {
      mounts: mountsOf(sandbox, placesOf(sandbox, places)),
      env: Object.assign({}, ...kinds.map(([, { env }]) => env)),
    };
  },
  prepare: (sandbox, places) => {
    const at = placesOf(sandbox, places);
    const isUsed = mountsOf(sandbox, at).some((mount) => mount.kind === 'bind' && mount.source === at.emptyFolder);
    if (isUsed) mkdirSync(at.emptyFolder, { recursive: true, mode: 0o555 });
  },
};

function mountsOf({ spec }: Sandbox, at: MountPlaces): Mount[] {
  return grantTable.flatMap(([field, { mounts }]) =>
    mounts ? (spec[field] ?? []).flatMap((granted) => mounts(granted, at)) : [],
  );
}

function placesOf({ id, name }: Sandbox, places: Places): MountPlaces {
  return { sandboxName: name, emptyFolder: join(places.sandbox(id), 'empty'), volume: places.volume };
}
