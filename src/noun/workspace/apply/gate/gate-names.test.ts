import { describe, expect, it, test } from 'vitest';
import { fromText } from '../../../../model/byte-path.ts';
import type { Entry, GateKind } from '../../model/change.ts';
import { gatesOf } from './gate.ts';
import { gateNames } from './gate-names.ts';

const plain: Entry = { type: 'file', mode: 0o644, sizeBytes: 1, target: null };
const folder: Entry = { type: 'folder', mode: 0o755, sizeBytes: 0, target: null };
const link = (target: string): Entry => ({ type: 'link', mode: 0, sizeBytes: 0, target: fromText(target) });

function gates(path: string, before: Entry | null, after: Entry | null): GateKind[] {
  const content = { before: () => Buffer.alloc(0), after: () => Buffer.alloc(0) };
  return gatesOf({ path: fromText(path), before, after }, content);
}

const byName: Record<string, readonly string[]> = {
  'git-hooks': [
    '.git-hooks/pre-push',
    'simple-git-hooks.json',
    '.simple-git-hooks.cjs',

    '.git/hooks/pre-commit',
    'sub/.git/hooks/x/y',
    '.githooks/a',
    '.husky/pre-push',
    '.git/modules/m/hooks/x',
    '.huskyrc.json',
    'lefthook.yml',
    'lefthook-local.yaml',
    '.lefthook/pre-commit/x',
    '.lefthook.toml',
    '.overcommit.yml',
    '.lintstagedrc',
    'a/.lintstagedrc.mjs',
    'lint-staged.config.js',
  ],
  'git-config': [
    '.jj/repo/config.toml',

    '.git/config',
    '.git/config.worktree',
    '.git',
    'sub/.git',
    '.gitmodules',
    '.git/modules/m/config',
    '.hg/hgrc',
    '.lfsconfig',
    '.gitconfig',
  ],
  env: [
    '.envrc.local',
    '.Rprofile',
    '.pdbrc',
    '.irbrc',
    'devbox.json',

    '.envrc',
    'a/.envrc',
    '.env',
    '.env.local',
    '.tool-versions',
    '.mise.toml',
    'mise.toml',
    '.direnv/x',
    '.autoenv.zsh',
  ],
  editor: [
    '.idx/dev.nix',
    '.gitpod.yml',

    '.vscode/tasks.json',
    '.idea/a/b',
    '.exrc',
    '.nvimrc',
    '.vimrc',
    '.dir-locals.el',
    'x.code-workspace',
    '.zed/s',
    '.helix/languages.toml',
    'x.sublime-project',
    '.gdbinit',
    'a/.lldbinit',
  ],
  agent: [
    'AGENT.md',
    'AGENTS.override.md',
    '.agents/skills/x',
    '.junie/guidelines.md',
    '.qwen/settings.json',
    '.crush.json',
    '.rules',
    '.github/hooks/x.json',
    '.github/agents/a.md',
    '.openhands/setup.sh',

    '.claude/settings.json',
    'CLAUDE.md',
    'a/AGENTS.md',
    '.mcp.json',
    '.cursorrules',
    '.aider.conf.yml',
    'carrel.yaml',
    '.carrel/Dockerfile.sandbox',
    '.kiro/hooks/x',
    '.github/instructions/a.md',
    '.github/prompts/a.md',
    '.github/chatmodes/a.md',
  ],
  ci: [
    '.gitlab/ci/build.yml',
    '.cirrus.yml',
    '.github/workflows/x.yml',
    '.gitlab-ci.yml',
    'Jenkinsfile',
    '.circleci/config.yml',
    '.woodpecker.yml',
  ],
  scripts: [
    'package.json5',
    'package.yaml',
    'tests/conftest.py',
    'gradlew',
    'a/gradlew.bat',
    'gradle/wrapper/gradle-wrapper.jar',

    '.npmrc',
    '.yarnrc.yml',
    '.yarn/releases/yarn.cjs',
    'binding.gyp',
    'setup.py',
    'crates/a/build.rs',
    '.cargo/config',
    'a/.cargo/config.toml',
    '.mvn/extensions.xml',
    '.bazelrc',
    'pnpm-workspace.yaml',
    'flake.nix',
    'shell.nix',
    'a/default.nix',
    '.aimi/Dockerfile.sandbox',
    '.aimi/Dockerfile.sandbox.dockerignore',
    'docker-compose.yml',
    'a/compose.override.yaml',
  ],
  dependencies: [
    'package-lock.json',
    'a/npm-shrinkwrap.json',
    'yarn.lock',
    'pnpm-lock.yaml',
    'bun.lock',
    'bun.lockb',
    'uv.lock',
    'poetry.lock',
    'Cargo.lock',
    'go.sum',
    'Gemfile.lock',
    'composer.lock',
    'rust-toolchain.toml',
    'rust-toolchain',
    '.nvmrc',
    '.python-version',
    'gradle/wrapper/gradle-wrapper.properties',
  ],
};

describe('paths that can run something', () => {
  const cases = Object.entries(byName).flatMap(([kind, paths]) => paths.map((path) => [kind, path] as const));
  it.each(cases)('%s: %s', (kind, path) => {
    expect(gates(path, null, plain)).toContain(kind);
    expect(gates(path, plain, { ...plain, sizeBytes: 2 })).toContain(kind);
    expect(gates(path, plain, null)).toContain(kind);
    expect(gates(path, plain, link('somewhere'))).toContain(kind);
  });

  it.each([
    '.GIT/hooks/x',
    '.git /hooks/x',
    '.git./hooks/x',
    'GIT~1/hooks/x',
    '.g\u200cit/hooks/x',
    '.git\ufeff/hooks/x',
    '.git::$INDEX_ALLOCATION/hooks/x',
    '.git\\hooks\\x',
    '.giT/Hook\u017f/x',
  ])('%j is gated, since some filesystems take it for a hook', (path) => {
    expect(gates(path, null, plain)).toContain('git-hooks');
  });

  it.each([
    'src/a.ts',
    'git/hooks/x',
    'my.git.md',
    '.gitignore',
    '.env.example',
    'docs/agents.txt',
    'vscode/x',
    'x.npmrc',
    '.hg/store/data',
    'cargo/config.toml',
    'lib/default.nixos',
    'my-lefthook.yml',
    'decompose.yml',
    '.github/ISSUE_TEMPLATE/a.md',
  ])('%s is not gated', (path) => expect(gates(path, null, plain)).toEqual([]));

  it('a folder is not gated, but a link in its place is', () => {
    expect(gates('.vscode', null, folder)).toEqual([]);
    expect(gates('.husky', folder, null)).toEqual([]);
    expect(gates('.vscode', folder, link('x'))).toEqual(['editor']);
  });
});

test('every name in the table says which program reads it', () => {
  for (const { by, names } of gateNames) expect(by.length, names).toBeGreaterThan(3);
});
