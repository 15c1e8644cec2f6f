import type { SandboxRequest, SandboxView } from '../../sandbox/api.ts';
import type { BegunSwarmView, SwarmView } from '../../swarm/api.ts';
import type { ApplyRequest, ApplyView, SnapshotView } from '../../workspace/api.ts';

interface Named {
  readonly path: { readonly name: string };
}

interface Removal {
  readonly id: string;
  readonly force: boolean;
  readonly running: boolean;
  readonly dryRun: boolean;
}

interface SwarmRun {
  project: string;
  files?: string[] | undefined;
  agent?: string | undefined;
  max?: number | undefined;
}

/** The routes that tools call: the request and the answer of each. */
export interface ToolRoutes {
  'POST /v1/sandboxes': [{ readonly body: SandboxRequest }, SandboxView];
  'POST /v1/sandboxes/{name}/start': [Named, SandboxView];
  'DELETE /v1/sandboxes/{name}': [Named & { readonly query: Removal }, SandboxView];
  'POST /v1/sandboxes/{name}/snapshots': [Named & { readonly body: { label: string | undefined } }, SnapshotView];
  'POST /v1/sandboxes/{name}/fork': [Named & { readonly body: { names: string[] } }, SandboxView[]];
  'POST /v1/apply': [{ readonly body: ApplyRequest }, ApplyView];
  'POST /v1/swarm/run': [{ readonly body: SwarmRun }, BegunSwarmView];
  'GET /v1/swarm/show': [{ readonly query: { project: string } }, SwarmView];
  'POST /v1/swarm/stop': [{ readonly body: { project: string; names: string[] | undefined } }, SwarmView];
}

/** Calls a route of the API for the user, with the audit act and the policy of that route. */
export type CallRoute<Keys extends keyof ToolRoutes = keyof ToolRoutes> = <K extends Keys>(
  key: K,
  request: ToolRoutes[K][0],
) => Promise<ToolRoutes[K][1]>;

export type SwarmRoute = Extract<keyof ToolRoutes, `${string} /v1/swarm/${string}`>;
