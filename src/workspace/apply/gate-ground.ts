/** What of the project, besides a change itself, decides whether the change could run something. */
import { spawnSync } from 'node:child_process';
import { lstatSync, realpathSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { type BytePath, fromText, toText } from '../../model/byte-path.ts';
import { plainEnv } from '../git/git.ts';
import { Folders } from '../tree/folders.ts';
import { entryAt, look, unlessGone } from '../tree/tree.ts';

export interface GateGround {
  /** Folders of the project where git looks for hooks, because it was told to. */
  readonly hooks: readonly BytePath[];
  /** Where the link at a path leads; null: there is none. */
  linkAt(path: BytePath): BytePath | null;
}

export const noGround: GateGround = { hooks: [], linkAt: () => null };

/** A project that is gone has none. */
export function withGround<T>(project: string, work: (ground: GateGround) => T): T {
  const folders = unlessGone(() => new Folders(project));
  if (folders === null) return work(noGround);
  const linkAt = (path: BytePath) => {
    const spot = folders.spot(path);
    const stat = spot && look(spot.folder, spot.name);
    return spot && stat?.isSymbolicLink() ? (entryAt(spot.folder, spot.name, stat)?.target ?? null) : null;
  };
  try {
    return work({ hooks: hookFolders(project), linkAt });
  } finally {
    folders.close();
  }
}

/** Of the repository that the project is, or is in. Reading its settings runs nothing. */
function hookFolders(project: string): BytePath[] {
  const paths = ask(project, ['config', '--includes', '--type=path', '--null', '--get-all', 'core.hooksPath']).split(
    '\0',
  );
  const top = ask(project, ['rev-parse', '--show-toplevel']).trimEnd();
  return paths
    .filter((path) => path !== '')
    .map((path) => relative(realpathSync(project), resolve(top === '' ? project : top, path)))
    .filter((path) => !path.startsWith('..') && !path.startsWith('/'))
    .map(fromText);
}

/** As the owner of the project, whose repository it is. */
function ask(project: string, args: readonly string[]): string {
  const { uid, gid } = lstatSync(project);
  const { status, stdout } = spawnSync('git', args, {
    cwd: project,
    env: plainEnv,
    encoding: 'latin1',
    timeout: 10_000,
    ...(process.getuid?.() === 0 && uid !== 0 ? { uid, gid } : {}),
  });
  return status === 0 ? toText(stdout) : '';
}
