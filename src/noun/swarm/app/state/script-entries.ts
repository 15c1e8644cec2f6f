/** The observed state of containers that scripts run: sandboxes of the user, or containers of the Docker Engine for its owner. */
import { observeForeign } from '../../../../kernel/engine/docker/foreign/foreign.ts';
import type { ObservedContainer } from '../../../../model/foreign-container.ts';
import type { WorkspaceParts } from '../../../workspace/app/workspaces.ts';
import type { Completion } from '../../model/message.ts';
import type { SwarmContainer } from '../../model/swarm.ts';
import { readRecord } from '../worker/record-file.ts';
import { observedSandbox } from '../worker/sandbox-actions.ts';

export interface SeenEntry {
  readonly observed: ObservedContainer;
  /** What its adapter recorded for this swarm. */
  readonly completion: Completion | null;
}

/** Null: the container cannot be observed, and its record stays. */
export type SeeEntry = (entry: SwarmContainer) => Promise<SeenEntry | null>;

/** `dockerSocket` undefined: this user may not see containers of the Docker Engine. */
export function scriptEntries(parts: WorkspaceParts, dockerSocket: string | null | undefined): SeeEntry {
  return async (entry) => {
    const row = parts.sandboxes.rows().find(({ id }) => id === entry.containerId);
    if (row === undefined) {
      const observed = dockerSocket === undefined ? null : await observeForeign(entry.containerId, dockerSocket);
      return observed && { observed, completion: null };
    }
    await parts.reconciler.refresh(row);
    const sandbox = parts.store.get('sandbox', row.id)?.value ?? null;
    if (sandbox === null) return { observed: { kind: 'absent' }, completion: null };
    await parts.openFolder(row.id);
    const outcome = readRecord(parts.home.state(row.id))?.outcome;
    const isOfThisSwarm = outcome?.swarmId === entry.swarmId;
    return { observed: observedSandbox(sandbox, entry), completion: isOfThisSwarm ? outcome.completion : null };
  };
}
