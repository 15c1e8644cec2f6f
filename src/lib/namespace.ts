/**
 * The namespaces a daemon lives in. As root: a mount namespace of its own. Otherwise also a user namespace in which it is
 * root over the ids that /etc/subuid lends it, or that of its predecessor; from there on all ways are one.
 */

const mounts = ['unshare', '--mount', '--propagation', 'slave'];

/** `joined`: what enters the user namespace of the predecessor; null where nothing of it lives. */
export function namespaceArgs(uid: number, joined: readonly string[] | null = null): [string, ...string[]] {
  const argv =
    uid === 0 ? [...mounts, '--'] : joined === null ? [...mounts, ...ownUsers, '--'] : [...joined, ...mounts, '--'];
  return argv as [string, ...string[]];
}

const ownUsers = ['--user', '--map-root-user', '--map-auto'];

/** By a process that is in it, or by an open descriptor of it. */
export function enterNamespaceOf(member: number): string[] {
  return ['nsenter', '--user', '--preserve-credentials', '--target', String(member), '--'];
}

export function enterNamespaceAt(fd: number): string[] {
  return ['nsenter', `--user=/proc/self/fd/${fd}`, '--preserve-credentials', '--'];
}
