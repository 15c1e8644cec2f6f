/** What stands inside folders named `.git`, in any case of letters: some filesystems do not tell them apart. */
import type { BytePath } from '../../model/byte-path.ts';

const anyGit = /(?:^|\/)\.git(?:\/|$)/i;
const atGit = /(?:^|\/)\.git$/i;
const own = String.raw`(?:hooks(?:/.*)?|config|config\.worktree|info/attributes)`;
/** What makes git run something, in the repository, in those of its submodules and in its worktrees. */
const runs = new RegExp(
  String.raw`(?:^|/)\.git/(?:${own}|modules/(?:.*/)?${own}|worktrees/[^/]+/config\.worktree)$`,
  'is',
);

export type GitPart =
  | 'outside'
  /** Can make git run something. */
  | 'runs'
  /** A `.git` itself: one that is no folder sends git elsewhere. */
  | 'git'
  | 'inside';

export function gitPart(path: BytePath): GitPart {
  if (!anyGit.test(path)) return 'outside';
  if (runs.test(path)) return 'runs';
  return atGit.test(path) ? 'git' : 'inside';
}
