/** Constructs the shares of a user. */

import { mountNow } from '../app/share/mount-now.ts';
import { Observer } from '../app/share/observe.ts';
import { Revocations } from '../app/share/revocations.ts';
import { SandboxShares } from '../app/share/sandbox-shares.ts';
import type { ShareScope } from '../app/share/share.ts';
import { Shares } from '../app/share/shares.ts';
import { verify } from '../app/share/verify.ts';
import { engineSockets } from '../engine/docker/socket.ts';
import type { EngineOf } from '../engine/engine.ts';
import { actsAsOwner } from '../launch/compose.ts';
import { boundFolders, type Sandbox } from '../model/sandbox.ts';
import type { Actor } from '../model/user.ts';
import type { Reconciler } from '../reconcile/reconcile.ts';
import type { Resources } from './resources.ts';

export interface ShareWiring extends Resources {
  readonly engineOf: EngineOf;
  readonly reconciler: Reconciler;
}

/** `account`: the account whose folders this user may share. */
export function sharesOf(
  actor: Actor,
  { store, home, config, engineOf, reconciler, rootless, report, now }: ShareWiring,
  account: () => number | null | 'any',
): ShareScope & { readonly sandboxShares: SandboxShares } {
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
  const asking = { store, user: actor.name, observer, engineOf, dockerSocket: () => config.dockerSocket };
  const revocations = new Revocations({ store, now, report, observer, sandboxShares, reconciler, user: actor.name });
  return { shares, sandboxShares, revocations, verifyShare: (name, consumer) => verify(asking, name, consumer) };
}
