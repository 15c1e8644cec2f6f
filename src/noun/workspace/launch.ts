import { mkdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Places } from '../../kernel/home/places.ts';
import { Fault } from '../../model/fault.ts';
import type { Mount } from '../../model/mount.ts';
import type { Sandbox } from '../sandbox/model.ts';
import type { SandboxPart } from '../sandbox/part/part.ts';
import { type WorkspacePlace, workspaceMounts } from './workspace.ts';

/**
 * Mounts the project at `/workspace`: a working copy, or in mode bind the real folder, where both sides see changes at
 * once.
 */
export const workspace: SandboxPart = {
  additions: (sandbox, places) => {
    const { project } = sandbox.spec;
    if (project === null) return {};
    const place = workspacePlace(sandbox, places);
    return {
      cwd: '/workspace',
      mounts: place === null ? bindMounts(project) : workspaceMounts(place),
      env: { AGENT_CWD: '/workspace', PROJECT_ID: basename(project) },
    };
  },
  prepare: (sandbox, places) => {
    const { project } = sandbox.spec;
    if (project === null) return;
    const place = workspacePlace(sandbox, places);
    const tree = statSync(place?.base ?? project, { throwIfNoEntry: false });
    if (!tree?.isDirectory()) throw missing(project);
    if (place?.kind === 'overlay') makeLayers(place.folder, tree.mode & 0o777);
  },
};

/** The place of a sandbox's working copy; null: it has none. */
export function workspacePlace({ id, spec }: Sandbox, places: Places): WorkspacePlace | null {
  if (spec.project === null || !spec.workspace) return null;
  return {
    kind: spec.workspace,
    project: spec.project,
    base: spec.base ? places.base(spec.base.id) : spec.project,
    live: !spec.base,
    cloned: spec.base?.from === 'clone',
    marks: places.rootless ? 'user' : 'trusted',
    folder: join(places.state(id), 'workspace'),
  };
}

function bindMounts(project: string): Mount[] {
  const bound = { kind: 'bind', source: project, mapOwner: true } as const;
  return [
    { ...bound, target: '/.workspace', readonly: true },
    { ...bound, target: '/workspace', readonly: false },
  ];
}

/** Makes the layers of the overlay. The mode of the upper layer is the mode of the mounted folder. */
function makeLayers(folder: string, mode: number): void {
  mkdirSync(join(folder, 'work'), { recursive: true, mode: 0o700 });
  mkdirSync(join(folder, 'upper'), { recursive: true, mode });
}

function missing(project: string): Fault {
  return new Fault('invalid', `the project ${project} is not a folder`, {
    hint: 'It may have been moved or deleted.',
  });
}
