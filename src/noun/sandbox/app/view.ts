/** A sandbox as the API shows it. */

import type { Places } from '../../../kernel/home/places.ts';
import type { Mount } from '../../../model/mount.ts';
import { viewsOf } from '../../grant-table.ts';
import { noNetwork } from '../../network/model/network.ts';
import type { SandboxView } from '../api.ts';
import { launchAdditions } from '../launch/launch.ts';
import { hasEnded, type Sandbox, type SandboxSpec } from '../model.ts';

export interface ViewTroubles {
  /** Why its engine could not be asked. */
  readonly unseen: string | null;
  /** Why its network is not as its record says. */
  readonly trouble: string | null;
}

export function viewOf(sandbox: Sandbox, places: Places, { unseen, trouble }: ViewTroubles): SandboxView {
  const { id, name, createdAt, spec, status } = sandbox;
  return {
    id,
    name,
    project: spec.project,
    user: spec.user,
    engine: spec.engine,
    runtime: status.runtime ?? spec.runtime,
    state: status.state,
    exitCode: status.exitCode,
    signal: status.signal,
    reason: status.reason,
    command: [...spec.command],
    terminal: !!spec.terminal,
    mode: spec.mode,
    workspace: workspaceView(spec),
    createdAt,
    kept: status.kept,
    startedAt: status.startedAt,
    finishedAt: status.finishedAt,
    limits: { ...spec.limits, advisory: [...status.advisory] },
    mounts: launchAdditions(sandbox, places).mounts.map(mountView),
    ...viewsOf(spec),
    credentials: (spec.credentials ?? []).map(({ name: one }) => one),
    services: (spec.services ?? []).map((one) => ({ ...one })),
    network: { ...networkView(spec), trouble: hasEnded(status) ? null : trouble },
    image: spec.image ? { name: spec.image, id: spec.imageId ?? null } : null,
    labels: spec.labels,
    // A sandbox that has ended does not start again by itself.
    unseen: hasEnded(status) ? null : unseen,
  };
}

/** Texts by record: a changed record is another object. */
const texts = new WeakMap<Sandbox, string>();

/** The JSON of a view, made once per record: making hundreds of them takes longer than observing the sandboxes. */
export function viewText(sandbox: Sandbox, places: Places, seen: ViewTroubles): string {
  if (seen.unseen !== null || seen.trouble !== null) return JSON.stringify(viewOf(sandbox, places, seen));
  const text = texts.get(sandbox) ?? JSON.stringify(viewOf(sandbox, places, seen));
  texts.set(sandbox, text);
  return text;
}

function workspaceView({ workspace, base }: SandboxSpec): SandboxView['workspace'] {
  if (!workspace) return null;
  if (!base) return { kind: workspace, base: 'live' };
  return { kind: workspace, base: base.from === 'clone' ? 'clone' : 'frozen' };
}

function networkView({ network = noNetwork }: SandboxSpec): Omit<SandboxView['network'], 'trouble'> {
  return { allow: [...network.allow], ports: network.ports.map((port) => ({ ...port })) };
}

function mountView(mount: Mount): SandboxView['mounts'][number] {
  const source = mount.kind === 'bind' ? mount.source : mount.kind === 'overlay' ? mount.lower : null;
  return { target: mount.target, source, readonly: mount.kind === 'bind' && mount.readonly };
}
