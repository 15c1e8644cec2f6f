/** Constructs the shares of a user. */

import type { ConfiguredKernel } from '../../../kernel/daemon/resources.ts';
import { engineSockets } from '../../../kernel/engine/docker/connection/socket.ts';
import { mountInto } from '../../../kernel/engine/local/stage/live-mount.ts';
import type { Actor } from '../../../model/user.ts';
import { actsAsOwner } from '../../sandbox/launch/launch.ts';
import { boundFolders, type Sandbox } from '../../sandbox/model.ts';
import type { Reconciler } from '../../sandbox/reconcile/reconcile.ts';
import { type ShareMount, shareBind } from '../model.ts';
import { mountedAt } from '../mounted.ts';
import type { ShareGrants } from '../share.ts';
import type { ShareScope } from './app.ts';
import { Observer } from './observe.ts';
import { Revocations } from './revocations.ts';
import { SandboxShares } from './sandbox-shares.ts';
import { Shares } from './shares.ts';
import { verify } from './verify.ts';

export interface ShareWiring extends ConfiguredKernel {
  readonly reconciler: Reconciler;
}

/** `account`: the account whose folders this user may share. */
export function sharesOf(
  actor: Actor,
  { store, home, config, engineOf, reconciler, rootless, report, now }: ShareWiring,
  account: () => number | null | 'any',
): ShareScope & { readonly grants: ShareGrants } {
  const observer = new Observer({ store, engineOf, dockerSocket: () => config.dockerSocket });
  const open = () => store.list('sandbox').flatMap(({ value }) => boundFolders(value.spec));
  const sockets = () => [...(config.dockerSocket === null ? [] : [config.dockerSocket]), ...engineSockets(process.env)];
  const canAdd = (sandbox: Sandbox) => !rootless || actsAsOwner(sandbox, home);
  const sandboxShares = new SandboxShares({
    ...{ store, now, reconciler, canAdd },
    mountNow: (sandbox, mount) => mountNow(observer, sandbox, mount),
  });
  const shares = new Shares(actor, {
    ...{ store, now, report, observer, sandboxShares },
    rules: () => ({ home: home.home, open: open(), sockets: sockets(), account: account() }),
  });
  const verifyParts = { store, user: actor.name, observer, engineOf, dockerSocket: () => config.dockerSocket };
  const revocations = new Revocations({ store, now, report, observer, sandboxShares, reconciler, user: actor.name });
  return {
    shares,
    grants: sandboxShares,
    revocations,
    verifyShare: (name, consumer) => verify(verifyParts, name, consumer),
  };
}

/** Mounts the share in the sandbox if it runs and lacks it. */
async function mountNow(observer: Observer, sandbox: Sandbox, mount: ShareMount): Promise<void> {
  const pid = await observer.runningPid(sandbox);
  if (pid !== null && mountedAt(pid, mount.target) === null) await mountInto(pid, shareBind(mount));
}
