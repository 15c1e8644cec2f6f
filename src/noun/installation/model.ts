/** The kinds of data that take disk space in a home. */
export const spaceKinds = [
  /** The state of sandboxes, and the copies of projects that they work on. */
  'workspaces',
  'snapshots',
  'volumes',
  'backups',
  'images',
  'tools',
  /** Output of sandboxes, of the daemon and of the proxy, and the audit log. */
  'logs',
  'rooms',
  /** Replaced files that `undo` needs. */
  'undo',
  'store',
  'other',
] as const;
export type SpaceKind = (typeof spaceKinds)[number];

/** The kind by the first name of a path in the home. The caller divides folders of sandboxes and volumes further. */
export function spaceKindOf(name: string): SpaceKind {
  const found = kinds.find(([pattern]) => pattern.test(name));
  return found?.[1] ?? 'other';
}

const kinds: readonly (readonly [pattern: RegExp, kind: SpaceKind])[] = [
  [/^(sandboxes|bases|scratch)$/, 'workspaces'],
  [/^volumes$/, 'volumes'],
  [/^backups$/, 'backups'],
  [/^images$/, 'images'],
  [/^tools$/, 'tools'],
  [/^(audit|engine|network|daemon\.log.*)$/, 'logs'],
  [/^rooms$/, 'rooms'],
  [/^applies$/, 'undo'],
  [/^(carrel\.db.*|reserve)$/, 'store'],
];
