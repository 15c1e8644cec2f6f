/** Compares the ages of two builds. */
import type { Build } from '../file/package.ts';

export type { Build };

/** A sentence if the daemon is older than the command; null: it is not. */
export function olderThan(daemon: Build, command: Build): string | null {
  if (!isOlder(daemon, command)) return null;
  return `the daemon is older than this command: it is ${named(daemon)}, this is ${named(command)}`;
}

export function isOlder(running: Build, own: Build): boolean {
  const [daemonParts, ownParts] = [running, own].map(({ version }) =>
    version.split('.').map((part) => Number.parseInt(part, 10)),
  );
  for (const [at, part] of ownParts!.entries()) {
    const other = daemonParts![at] ?? 0;
    if (other !== part) return other < part;
  }
  return running.build !== own.build && running.builtAt < own.builtAt;
}

function named({ version, builtAt }: Build): string {
  return `${version}, built ${builtAt.slice(0, 19).replace('T', ' ')} UTC`;
}
