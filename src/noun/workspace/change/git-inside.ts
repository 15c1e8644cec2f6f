/** Kinds of paths inside folders named `.git`, in upper or lower case, since some filesystems ignore it. */
import type { BytePath } from '../../../model/byte-path.ts';

const anyGit = /(?:^|\/)\.git(?:\/|$)/i;
const atGit = /(?:^|\/)\.git$/i;
const own = String.raw`(?:hooks(?:/.*)?|config|config\.worktree|info/attributes)`;
/** Files that can make git run a program: in the repository, in its submodules and in its worktrees. */
const runs = new RegExp(
  String.raw`(?:^|/)\.git/(?:${own}|modules/(?:.*/)?${own}|worktrees/[^/]+/config\.worktree)$`,
  'is',
);

export type GitPart =
  | 'outside'
  /** Can make git run something. */
  | 'runs'
  /** A `.git` itself: if it is not a folder, it points git to another one. */
  | 'git'
  | 'inside';

export function gitPart(path: BytePath): GitPart {
  if (!anyGit.test(path)) return 'outside';
  if (runs.test(path)) return 'runs';
  return atGit.test(path) ? 'git' : 'inside';
}
