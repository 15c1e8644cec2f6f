/**
 * The namespaces a daemon lives in. As root: a mount namespace of its own. Otherwise also a user namespace in which it is
 * root over the ids that /etc/subuid lends it, or that of `member`, a process of its predecessor; from there on all ways
 * are one.
 */
export function namespaceArgs(uid: number, member: number | null = null): [string, ...string[]] {
  const mounts = ['--mount', '--propagation', 'slave'];
  if (uid === 0) return ['unshare', ...mounts, '--'];
  if (member === null) return ['unshare', '--user', '--map-root-user', '--map-auto', ...mounts, '--'];
  const join = ['nsenter', '--user', '--preserve-credentials', '--target', String(member), '--'] as const;
  return [...join, 'unshare', ...mounts, '--'];
}
