/**
 * The namespaces of a daemon. As root: a mount namespace. Otherwise also a user namespace in which it is root over the ids
 * that /etc/subuid assigns to it: a new one, or that of the previous daemon. From there on both cases are the same.
 */

const mounts = ['unshare', '--mount', '--propagation', 'slave'];

/** `joined`: how to enter the user namespace of the previous daemon; null: no process of it is alive. */
export function namespaceArgs(uid: number, joined: readonly string[] | null = null): [string, ...string[]] {
  const argv =
    uid === 0 ? [...mounts, '--'] : joined === null ? [...mounts, ...ownUsers, '--'] : [...joined, ...mounts, '--'];
  return argv as [string, ...string[]];
}

const ownUsers = ['--user', '--map-root-user', '--map-auto'];

/** The prefix of a command that runs in the user namespace of a process, or in that of an open descriptor. */
export function enterNamespaceOf(member: number): string[] {
  return ['nsenter', '--user', '--preserve-credentials', '--target', String(member), '--'];
}

export function enterNamespaceAt(fd: number): string[] {
  return ['nsenter', `--user=/proc/self/fd/${fd}`, '--preserve-credentials', '--'];
}
