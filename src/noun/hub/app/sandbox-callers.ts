/**
 * Authenticates sandboxes that were granted the hub. The proxy names the sandbox, so the sandbox holds no token. A
 * sandbox reaches only its own project, and only if that gives it no new access: the spoke of a project in mode `bind`
 * writes into the folder of the host, which a sandbox with a working copy may not.
 */

import { Fault } from '../../../model/fault.ts';
import { callerId } from '../../network/model/service.ts';
import type { Project } from '../../project/model/project.ts';
import type { Sandbox } from '../../sandbox/model.ts';
import type { HubCaller } from '../hub.ts';
import { hasHub } from '../model/service.ts';
import { defaultGroups } from '../model/token.ts';
import type { Authentication, AuthenticationRequest, ClientIdentity } from '../token/authentication.ts';

export interface SandboxCallerParts {
  find(id: string): Sandbox | null;
  readonly projectsOf: (user: string) => readonly Project[];
}

export class SandboxCallers implements Authentication {
  readonly #parts: SandboxCallerParts;
  onRevoked = () => {};

  constructor(parts: SandboxCallerParts) {
    this.#parts = parts;
  }

  async authenticate({ caller }: AuthenticationRequest): Promise<ClientIdentity> {
    const { id, name, spec } = this.#granted(callerId(caller));
    return { user: spec.user, caller: this.#caller(id, name), check: () => void this.#granted(id) };
  }

  challenge(): null {
    return null;
  }

  document(): null {
    return null;
  }

  /** Projects are looked up for each call: they come and go while a session is open. */
  #caller(id: string, sandbox: string): HubCaller {
    const projects = () => {
      const { spec } = this.#granted(id);
      return this.#parts.projectsOf(spec.user).filter((project) => isOwn(project, spec));
    };
    return {
      ...{ name: `sandbox-${id}`, sandbox, groups: defaultGroups },
      get projects() {
        return projects().map((project) => project.id);
      },
    };
  }

  #granted(id: string): Sandbox {
    const sandbox = this.#parts.find(id);
    if (sandbox !== null && hasHub(sandbox.spec)) return sandbox;
    throw new Fault('unauthenticated', 'this sandbox has no hub', { hint: 'Create it with --service hub.' });
  }
}

function isOwn({ folder, mode }: Project, { project, mode: own }: Sandbox['spec']): boolean {
  return folder !== '' && folder === project && (mode === 'overlay' || (mode === 'bind' && own === 'bind'));
}
