/** Constructs the projects and the hub of a user. */
import type { Config } from '../app/app.ts';
import { Edits } from '../app/hub/edits.ts';
import { Spokes } from '../app/hub/spokes.ts';
import { UserHub } from '../app/hub/user-hub.ts';
import { Projects } from '../app/project/projects.ts';
import { execSpec } from '../app/sandbox/exec.ts';
import type { EngineOf } from '../engine/engine.ts';
import type { HubCaller } from '../hub/hub.ts';
import { packageVersion } from '../lib/package.ts';
import type { Sandbox } from '../model/sandbox.ts';
import type { Actor } from '../model/user.ts';
import type { Store } from '../store/store.ts';
import { type ActParts, actsOf } from './environment-wiring.ts';

export interface HubParts extends Omit<ActParts, 'projects' | 'exec'> {
  readonly engineOf: EngineOf;
  readonly store: Store;
  readonly now: () => string;
  readonly config: Pick<Config, 'hub'>;
  /** Records the base of paths that a command may have changed. */
  readonly keepBases: (sandbox: Sandbox) => Promise<void>;
}

export function hubOf(actor: Actor, parts: HubParts): { projects: Projects; hub: UserHub } {
  const { store, audit, sandboxes, engineOf, now, keepBases, config } = parts;
  const { name: user } = actor;
  const exec = (sandbox: Sandbox, command: readonly string[]) => {
    const spec = execSpec({ command: [...command], stdin: true }, sandbox, sandboxes.cwd(sandbox));
    return engineOf(sandbox).exec(sandbox.id, sandbox.status.handle, spec);
  };
  const projects: Projects = new Projects({
    ...{ store, user, now, sandboxes },
    serverNames: () => config.hub.languageServers.map(({ name }) => name),
    settle: (id) => edits.settle(id),
    spokes: { isHealthy: (id) => spokes.isHealthy(id), release: (id) => spokes.release(id) },
  });
  const spokes = new Spokes({
    sandboxes,
    exec,
    ended: keepBases,
    isInUse: (sandbox) => parts.commands.open.has(sandbox),
    setup: ({ languages = null }) => ({ languages, servers: config.hub.languageServers }),
    observed: (project, state, reason) => projects.observed(project, state, reason),
    idleMs: () => config.hub.idleMinutes * 60_000,
    nowMs: () => performance.now(),
  });
  const edits: Edits = new Edits({ store, user, now, spokes, projects });
  spokes.adopt(projects.all());
  const acts = (caller: HubCaller) => actsOf(actor, caller, { ...parts, exec, projects: () => projects.all() });
  const version = packageVersion();
  return { projects, hub: new UserHub({ user, version, audit, spokes, edits, projects, actsOf: acts }) };
}
