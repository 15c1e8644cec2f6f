/** Constructs the shares of a user. */

import { Observer } from '../app/share/observe.ts';
import { Revocations } from '../app/share/revocations.ts';
import { SandboxShares } from '../app/share/sandbox-shares.ts';
import type { ShareScope } from '../app/share/share.ts';
import { groupIds, Shares } from '../app/share/shares.ts';
import { verify } from '../app/share/verify.ts';
import { engineSockets } from '../engine/docker/socket.ts';
import type { EngineOf } from '../engine/engine.ts';
import { identityOf, readIdSpace } from '../engine/local/ids.ts';
import { mountInto } from '../engine/local/live-mount.ts';
import { actsAsOwner } from '../launch/compose.ts';
import { outsideId, readIdMap } from '../lib/id-map.ts';
import { boundFolders, type Sandbox } from '../model/sandbox.ts';
import { type ShareMount, shareBind } from '../model/share.ts';
import type { Actor } from '../model/user.ts';
import type { Reconciler } from '../reconcile/reconcile.ts';
import { mountedAt } from '../share/mounted.ts';
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
  const mountNow = async (sandbox: Sandbox, mount: ShareMount) => {
    const pid = await observer.runningPid(sandbox);
    if (pid !== null && mountedAt(pid, mount.target) === null) await mountInto(pid, shareBind(mount));
  };
  const sandboxShares = new SandboxShares({ store, now, reconciler, canAdd, mountNow });
  const shares = new Shares(actor, {
    ...{ store, now, report, observer, sandboxShares },
    rules: () => ({ home: home.home, open: open(), sockets: sockets(), account: account() }),
    firstGroupId: () => firstGroupId(store.find('user', '', actor.name)?.value.slot ?? 0),
  });
  const asking = { store, user: actor.name, observer, engineOf, dockerSocket: () => config.dockerSocket };
  const revocations = new Revocations({ store, now, report, observer, sandboxShares, reconciler, user: actor.name });
  return { shares, sandboxShares, revocations, verifyShare: (name, consumer) => verify(asking, name, consumer) };
}

/** The first of the group ids at the end of the user's range, as the host numbers them: no account has these ids. */
function firstGroupId(slot: number): number {
  const space = readIdSpace();
  const inside = identityOf(slot, space).rootId + space.perUser - groupIds;
  return outsideId(readIdMap('gid'), inside) ?? inside;
}
