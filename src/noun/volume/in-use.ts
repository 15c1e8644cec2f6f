/** The Fault for a change of a volume that sandboxes have mounted, with the commands that free it. */
import { Fault } from '../../model/fault.ts';

/** `users` are sandboxes as USER/NAME; `owner` is the user of the volume, null for a shared one. */
export function inUse(name: string, users: readonly string[], owner: string | null): Fault {
  return new Fault('conflict', `${name} is in use by ${users.join(', ')}`, {
    hint: `Remove what uses it first: ${removals(users, owner).join('; ')}. Stopping is not enough: a sandbox has its volumes until it is removed.`,
  });
}

function removals(users: readonly string[], owner: string | null): string[] {
  const byUser = new Map<string, string[]>();
  for (const one of users) {
    const [user, name] = one.includes('/') ? (one.split('/', 2) as [string, string]) : [owner ?? '', one];
    byUser.set(user, [...(byUser.get(user) ?? []), name]);
  }
  return [...byUser].map(([user, names]) => {
    const as = user === owner || user === '' ? '' : `--user ${user} `;
    return `carrel ${as}rm ${names.join(' ')}`;
  });
}
