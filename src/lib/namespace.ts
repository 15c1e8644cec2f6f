/**
 * The namespaces a daemon lives in. As root: a mount namespace of its own. Otherwise also a user namespace in which it is
 * root over the ids that /etc/subuid lends it; from there on both ways are one.
 */
export function namespaceArgs(uid: number): [string, ...string[]] {
  const mounts = ['--mount', '--propagation', 'slave'];
  const users = uid === 0 ? [] : ['--user', '--map-root-user', '--map-auto'];
  return ['unshare', ...users, ...mounts, '--'];
}
