/** Constructs the projects and the hub of a user. */

import type { EngineOf } from '../../../kernel/engine/engine.ts';
import type { Store } from '../../../kernel/store/store.ts';
import { packageVersion } from '../../../lib/file/package.ts';
import type { Actor } from '../../../model/user.ts';
import type { Config } from '../../app.ts';
import { UserProjects } from '../../project/app/user-projects.ts';
import type { Projects } from '../../project/project.ts';
import { execSpec } from '../../sandbox/app/exec.ts';
import type { Sandbox } from '../../sandbox/model.ts';
import type { HubCaller } from '../hub.ts';
import { Edits } from './edits.ts';
import { type ActParts, actsOf } from './environment-wiring.ts';
import { Spokes } from './spoke/spokes.ts';
import { UserHub } from './user-hub.ts';

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
  const projects: Projects = new UserProjects({
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
