/** Constructs the shares of a user. */

import { engineSockets } from '../../../kernel/engine/docker/connection/socket.ts';
import type { Kernel } from '../../../kernel/kernel.ts';
import type { Actor } from '../../../model/user.ts';
import { actsAsOwner } from '../../sandbox/launch/launch.ts';
import { boundFolders, type Sandbox } from '../../sandbox/model.ts';
import type { Reconciler } from '../../sandbox/reconcile/reconcile.ts';
import type { ShareScope } from './app.ts';
import { mountNow } from './mount-now.ts';
import { Observer } from './observe.ts';
import { Revocations } from './revocations.ts';
import { SandboxShares } from './sandbox-shares.ts';
import { Shares } from './shares.ts';
import { verify } from './verify.ts';

export interface ShareWiring extends Kernel {
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
