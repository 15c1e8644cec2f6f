import { describe, expect, it } from 'vitest';
import { fromText } from '../../model/byte-path.ts';
import type { Entry, GateKind } from '../../model/change.ts';
import { gatesOf } from './gate.ts';
import type { GateGround } from './gate-ground.ts';

const plain: Entry = { type: 'file', mode: 0o644, sizeBytes: 1, target: null };
const program: Entry = { ...plain, mode: 0o755 };
const folder: Entry = { type: 'folder', mode: 0o755, sizeBytes: 0, target: null };
const link = (target: string): Entry => ({ type: 'link', mode: 0, sizeBytes: 0, target: fromText(target) });

function gates(path: string, before: Entry | null, after: Entry | null, old = '', now = ''): GateKind[] {
  const content = { before: () => Buffer.from(old), after: () => Buffer.from(now) };
  return gatesOf({ path: fromText(path), before, after }, content);
}

const byName: Record<string, readonly string[]> = {
  'git-hooks': [
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
  ci: ['.github/workflows/x.yml', '.gitlab-ci.yml', 'Jenkinsfile', '.circleci/config.yml', '.woodpecker.yml'],
  scripts: [
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
  ])('%j is what a careless filesystem takes for a hook', (path) => {
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
  ])('%s is nothing of the kind', (path) => expect(gates(path, null, plain)).toEqual([]));

  it('folders run nothing themselves', () => {
    expect(gates('.vscode', null, folder)).toEqual([]);
    expect(gates('.husky', folder, null)).toEqual([]);
    expect(gates('.vscode', folder, link('x'))).toEqual(['editor']);
  });
});

describe('what content decides', () => {
  const scripts = '{"scripts":{"test":"x"},"version":"1"}';
  it.each([
    ['other keys', scripts, '{"version":"2","scripts":{"test":"x"}}', []],
    ['a script', scripts, '{"scripts":{"test":"y"}}', ['scripts']],
    ['a new bin', scripts, '{"scripts":{"test":"x"},"bin":"a"}', ['scripts']],
    ['hooks', scripts, '{"scripts":{"test":"x"},"simple-git-hooks":{}}', ['scripts']],
    ['a package manager', scripts, '{"scripts":{"test":"x"},"packageManager":"pnpm@9"}', ['scripts']],
    ['whose builds run', scripts, '{"scripts":{"test":"x"},"pnpm":{"onlyBuiltDependencies":["x"]}}', ['scripts']],
    ['no JSON', scripts, '{', ['scripts']],
    ['no object', scripts, '3', ['scripts']],
  ])('package.json: %s', (_, old, now, expected) => {
    expect(gates('a/package.json', plain, plain, old, now)).toEqual(expected);
  });

  it.each([
    ['1.2.3', []],
    ['^1.0.0 || >=2 <3', []],
    ['latest', []],
    ['npm:@scope/other@^1', []],
    ['workspace:*', []],
    ['git+ssh://git@host/x.git', ['scripts']],
    ['https://host/x.tgz', ['scripts']],
    ['file:../x', ['scripts']],
    ['link:../x', ['scripts']],
    ['owner/name', ['scripts']],
    ['github:owner/name#main', ['scripts']],
    ['./x', ['scripts']],
    ['patch:x@1#./p', ['scripts']],
    ['exec:./x.js', ['scripts']],
  ])('package.json: a dependency on %s', (range, expected) => {
    const now = (key: string, value: unknown) => JSON.stringify({ ...JSON.parse(scripts), [key]: value });
    for (const key of ['dependencies', 'devDependencies', 'optionalDependencies', 'resolutions'])
      expect(gates('package.json', plain, plain, scripts, now(key, { x: range }))).toEqual(expected);
    expect(gates('package.json', plain, plain, scripts, now('overrides', { a: { x: range } }))).toEqual(expected);
    const old = now('dependencies', { x: range });
    expect(gates('package.json', plain, plain, old, now('dependencies', { x: range, y: '1' }))).toEqual([]);
  });

  it('package.json that comes or goes with scripts, or cannot be read', () => {
    expect(gates('package.json', null, plain, '', '{}')).toEqual([]);
    expect(gates('package.json', null, plain, '', scripts)).toEqual(['scripts']);
    expect(gates('package.json', plain, null, scripts)).toEqual(['scripts']);
    const nothing = { before: () => null, after: () => null };
    expect(gatesOf({ path: 'package.json', before: plain, after: plain }, nothing)).toEqual(['scripts']);
  });

  it.each([
    ['text', '', '* text=auto\n*.c diff merge=union\n', []],
    ['a filter', '', '* text\n*.x filter=evil\n', ['attributes']],
    ['a filter that was there', 'a filter=lfs\n', 'a filter=lfs\nb text\n', []],
    ['a filter for more', 'a filter=lfs\n', 'a filter=lfs\nb filter=lfs\n', ['attributes']],
    ['a filter that goes', 'a filter=crypt\n', '', ['attributes']],
    ['a macro', '', '[attr]m diff=pdf\n', ['attributes']],
  ])('.gitattributes: %s', (_, old, now, expected) => {
    expect(gates('.gitattributes', plain, plain, old, now)).toEqual(expected);
    expect(gates('.git/info/attributes', plain, plain, old, now)).toEqual(expected);
  });

  it('a repository without .git', () => {
    expect(gates('x/HEAD', null, plain, '', 'ref: refs/heads/main\n')).toEqual(['git-config']);
    expect(gates('x/config', null, plain, '', '[core]\n\tfsmonitor = evil\n')).toEqual(['git-config']);
    expect(gates('x/config', null, plain, '', 'a: b\n')).toEqual([]);
  });
});

describe('what the entry decides', () => {
  it('an executable bit that was not there', () => {
    expect(gates('run', plain, program)).toEqual(['executable']);
    expect(gates('run', null, { ...plain, mode: 0o654 })).toEqual(['executable']);
    expect(gates('run', program, { ...program, mode: 0o700 })).toEqual([]);
    expect(gates('run', program, null)).toEqual([]);
    expect(gates('run', link('x'), program)).toEqual(['executable']);
  });

  it.each([
    ['l', 'a/b', []],
    ['d/l', '../a', []],
    ['d/l', '../../a', ['symlink']],
    ['l', '..', ['symlink']],
    ['l', '/etc/passwd', ['symlink']],
    ['d/l', './x/../../y', ['symlink']],
    ['d/l', 'x/../y', ['symlink']],
    ['l', '.git/hooks', ['symlink']],
    ['d/l', '../.GIT', ['symlink']],
    ['l', '.', []],
  ])('the link %s to %s', (path, target, expected) => {
    expect(gates(path, null, link(target))).toEqual(expected);
  });
});

describe('what the project itself has', () => {
  const ground = (links: Record<string, string>, hooks: string[] = []): GateGround => ({
    hooks,
    linkAt: (path) => links[path] ?? null,
  });
  const led = (path: string, target: string, links: Record<string, string>) =>
    gatesOf({ path, before: null, after: link(target) }, { before: () => null, after: () => null }, ground(links));

  it('leads a link out by way of another', () => {
    const links = {
      vendor: '/opt/vendor',
      'd/up': '../..',
      'd/in': 'deep/er',
      loop: 'pool',
      pool: 'loop',
      rel: 'vendor',
    };
    expect(led('l', 'vendor/lib', links)).toEqual(['symlink']);
    expect(led('l', 'vendor', links)).toEqual(['symlink']);
    expect(led('d/l', '../vendor/lib', links)).toEqual(['symlink']);
    expect(led('l', 'd/up/x', links)).toEqual(['symlink']);
    expect(led('l', 'rel/x', links)).toEqual(['symlink']);
    expect(led('l', 'd/in/x', links)).toEqual([]);
    expect(led('l', 'loop/x', links)).toEqual([]);
    expect(led('l', 'vendored/lib', links)).toEqual([]);
  });

  it('makes hooks of files that cannot run yet', () => {
    const judged = (path: string) =>
      gatesOf(
        { path, before: null, after: plain },
        { before: () => null, after: () => null },
        ground({}, ['Tools/hooks']),
      );
    expect([judged('tools/hooks/pre-commit'), judged('tools/hooks/lib/x')]).toEqual([['git-hooks'], ['git-hooks']]);
    expect(judged('tools/hooked')).toEqual([]);
  });
});
