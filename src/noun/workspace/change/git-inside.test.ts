import { describe, expect, it } from 'vitest';
import { gitPart } from './git-inside.ts';

describe('paths inside .git', () => {
  const parts = {
    outside: ['file', '.gitignore', 'a.git/config', 'x/.github/hooks', 'git/hooks/x'],
    git: ['.git', 'a/b/.git', '.GIT', '.git/x/.git'],
    runs: [
      '.git/hooks',
      '.git/hooks/pre-commit',
      '.git/hooks/a/b\nc',
      '.git/config',
      '.git/config.worktree',
      '.git/info/attributes',
      'a/.GiT/HOOKS/x',
      '.git/modules/m/config',
      '.git/modules/m/modules/n/hooks/x',
      '.git/modules/a/b/info/attributes',
      '.git/worktrees/w/config.worktree',
      '.git/x/.git/config',
    ],
    inside: [
      '.git/HEAD',
      '.git/info',
      '.git/info/exclude',
      '.git/configs',
      '.git/x/config',
      '.git/x/hooks/y',
      '.git/modules/m/HEAD',
      '.git/worktrees/w/HEAD',
      '.git/worktrees/w/x/config.worktree',
    ],
  } as const;
  for (const [part, paths] of Object.entries(parts)) {
    it.each(paths)(`${part}: %j`, (path) => expect(gitPart(path)).toBe(part));
  }
});
