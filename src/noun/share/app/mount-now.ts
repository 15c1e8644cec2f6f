import { mountInto } from '../../../kernel/engine/local/stage/live-mount.ts';
import type { Sandbox } from '../../sandbox/model.ts';
import { type ShareMount, shareBind } from '../model.ts';
import { mountedAt } from '../mounted.ts';
import type { Observer } from './observe.ts';

/** Mounts the share in the sandbox if it runs and lacks it. */
export async function mountNow(
  observer: Pick<Observer, 'runningPid'>,
  sandbox: Sandbox,
  mount: ShareMount,
): Promise<void> {
  const pid = await observer.runningPid(sandbox);
  if (pid !== null && mountedAt(pid, mount.target) === null) await mountInto(pid, shareBind(mount));
}
