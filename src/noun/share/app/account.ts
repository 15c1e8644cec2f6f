/** The ids that guests and people have on the host. */
import { readIfThere } from '../../../lib/file/file.ts';
import { run } from '../../../lib/process/run.ts';
import { Fault } from '../../../model/fault.ts';
import type { Consumer } from '../model.ts';

/** Null: access is by the group of the share. */
export async function uidOf({ kind, name, uid }: Pick<Consumer, 'kind' | 'name' | 'uid'>): Promise<number | null> {
  if (kind === 'person') return (await accountOf(name)).uid;
  return kind === 'lxc' ? guestRoot(name) + (uid ?? 0) : uid;
}

export async function accountOf(login: string): Promise<{ readonly uid: number; readonly gid: number }> {
  const { exitCode, stdout } = await run(['getent', 'passwd', '--', login]);
  const [, , uid, gid] = stdout.split(':');
  if (exitCode === 0 && uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  throw new Fault('not_found', `this machine has no account ${login}`, { hint: 'Write the login name: person:LOGIN' });
}

/** The settings of a guest, from where Proxmox or LXC keep them. */
export function guestSettings(guest: string): string | null {
  return readIfThere(`/etc/pve/lxc/${guest}.conf`) ?? readIfThere(`/var/lib/lxc/${guest}/config`);
}

/** The numbers of mount points that a guest of Proxmox has. */
export function takenPoints(guest: string): number[] {
  return [...(guestSettings(guest) ?? '').matchAll(/^mp(\d+):/gm)].map(([, number]) => Number(number));
}

/** The first host id of unprivileged guests whose settings name no other range. */
const usualRoot = 100_000;

export function guestRoot(guest: string, settings = guestSettings(guest)): number {
  const mapped = /^lxc\.idmap\s*[:=]\s*u\s+0\s+(\d+)/m.exec(settings ?? '')?.[1];
  if (mapped !== undefined) return Number(mapped);
  const isPrivileged = settings !== null && !/^unprivileged:\s*1/m.test(settings);
  return isPrivileged ? 0 : usualRoot;
}
