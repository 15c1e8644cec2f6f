/**
 * The names of files and folders that tools run or obey, each with its tool. To add one, add a line.
 *
 * A pattern matches whole names in lower case at any depth: a file, or a folder with everything in it.
 */
import type { GateKind } from '../../model/change.ts';

/** How a change of such a file is checked; `any`: every change counts. */
export type JudgedBy = 'any' | 'attributes' | 'repository' | 'package' | 'go-module';

export interface GateName {
  readonly kind: GateKind;
  readonly names: string;
  /** Which program reads it, and what for. */
  readonly by: string;
  readonly judged: JudgedBy;
}

const named = (kind: GateKind, names: string, by: string, judged: JudgedBy = 'any'): GateName => ({
  kind,
  names,
  by,
  judged,
});

const gitHooks: readonly GateName[] = [
  named('git-hooks', String.raw`\.git/(?:.*/)?hooks`, 'git runs hooks of a repository and of its submodules'),
  named('git-hooks', String.raw`\.githooks|\.git-hooks`, 'usual folders for core.hooksPath'),
  named('git-hooks', String.raw`\.husky|\.huskyrc[^/]*`, 'husky runs these as git hooks'),
  named('git-hooks', String.raw`\.?lefthook(?:-local)?(?:\.[^/]+)?|\.lefthook[^/]*`, 'lefthook runs their commands'),
  named('git-hooks', String.raw`\.overcommit\.yml`, 'overcommit runs its hooks'),
  named('git-hooks', String.raw`\.lintstagedrc[^/]*|lint-staged\.config\.[^/]+`, 'lint-staged runs their commands'),
  named('git-hooks', String.raw`\.?simple-git-hooks\.[^/]+`, 'simple-git-hooks writes its commands into hooks'),
];

const gitConfig: readonly GateName[] = [
  named(
    'git-config',
    String.raw`\.git(?!/(?:info/attributes$|(?:.*/)?hooks/))`,
    'git: settings of a repository name programs, and a file leads to another repository',
  ),
  named('git-config', String.raw`\.gitmodules|\.gitconfig|\.lfsconfig`, 'git and git-lfs: addresses and settings'),
  named('git-config', String.raw`\.hg/hgrc[^/]*`, 'Mercurial: hooks, aliases, extensions'),
  named('git-config', String.raw`\.jj/repo/config\.toml`, 'Jujutsu: aliases, and tools that it runs'),
  named(
    'git-config',
    String.raw`(?:head|config|config\.worktree)$`,
    'git takes a folder with HEAD and config for a repository',
    'repository',
  ),
  named(
    'attributes',
    String.raw`\.gitattributes|\.git/(?:.*/)?info/attributes`,
    'git: filters and drivers for files',
    'attributes',
  ),
];

const environment: readonly GateName[] = [
  named('env', String.raw`\.envrc(?:\.local)?|\.direnv`, 'direnv runs it on entering the folder'),
  named('env', String.raw`\.env(?:\.(?!example|sample|template)[^/]*)?`, 'dotenv and compose: variables of programs'),
  named('env', String.raw`\.tool-versions`, 'asdf and mise: which tools run'),
  named('env', String.raw`\.?mise(?:\.[^/]+)?\.toml|\.?mise|\.rtx\.toml`, 'mise: tools, tasks, variables, hooks'),
  named('env', String.raw`\.autoenv[^/]*`, 'autoenv runs it on entering the folder'),
  named('env', String.raw`devbox\.json`, 'Devbox runs init_hook and scripts'),
  named('env', String.raw`\.rprofile`, 'R runs it when it starts in the folder'),
  named('env', String.raw`\.pdbrc`, 'pdb of Python runs it'),
  named('env', String.raw`\.irbrc`, 'irb of Ruby runs it'),
];

const editors: readonly GateName[] = [
  named('editor', String.raw`\.vscode|[^/]*\.code-workspace`, 'VS Code: tasks, launch, settings that name programs'),
  named('editor', String.raw`\.idea|\.fleet`, 'JetBrains: run configurations, watchers'),
  named('editor', String.raw`\.(?:vim|nvim|exrc|nvimrc|vimrc|lvimrc)|\.nvim\.lua`, 'Vim and Neovim run them'),
  named('editor', String.raw`\.dir-locals(?:-2)?\.el`, 'Emacs evaluates it'),
  named('editor', String.raw`\.zed|\.helix`, 'Zed and Helix: language servers, tasks'),
  named('editor', String.raw`[^/]*\.sublime-project`, 'Sublime Text: build systems'),
  named('editor', String.raw`\.devcontainer|\.devcontainer\.json`, 'Dev Containers: commands, mounts, features'),
  named('editor', String.raw`\.idx`, 'Firebase Studio: packages and hooks of the workspace'),
  named('editor', String.raw`\.gitpod\.ya?ml`, 'Gitpod runs its tasks'),
  named('editor', String.raw`\.gdbinit|\.lldbinit`, 'gdb and lldb run them'),
];

const agents: readonly GateName[] = [
  named('agent', String.raw`\.claude|claude(?:\.local)?\.md`, 'Claude Code: hooks, permissions, instructions'),
  named('agent', String.raw`\.cursor|\.cursorrules`, 'Cursor: rules, MCP servers, hooks'),
  named('agent', String.raw`\.gemini|gemini(?:\.local)?\.md`, 'Gemini CLI: settings, instructions'),
  named('agent', String.raw`\.qwen|qwen\.md`, 'Qwen Code: settings, instructions'),
  named('agent', String.raw`\.codex`, 'Codex: settings'),
  named(
    'agent',
    String.raw`agents?(?:\.local|\.override)?\.md|\.agents`,
    'many agents, Codex and Amp among them: instructions, skills',
  ),
  named('agent', String.raw`\.opencode|opencode\.jsonc?`, 'opencode: settings, plugins'),
  named('agent', String.raw`\.?crush\.json|\.crush`, 'Crush: MCP servers, permissions'),
  named('agent', String.raw`\.junie`, 'Junie: guidelines, MCP servers'),
  named('agent', String.raw`\.openhands`, 'OpenHands: setup.sh, hooks, microagents'),
  named('agent', String.raw`\.(?:continue|roo|kiro|clinerules[^/]*)`, 'Continue, Roo Code, Kiro, Cline'),
  named('agent', String.raw`\.windsurf|\.windsurfrules`, 'Windsurf: rules, workflows'),
  named('agent', String.raw`\.rules`, 'Zed: instructions for its agent'),
  named('agent', String.raw`\.aider[^/]*`, 'Aider: settings with commands to lint and test'),
  named('agent', String.raw`\.mcp\.json`, 'MCP servers to start'),
  named(
    'agent',
    String.raw`\.github/(?:instructions|prompts|chatmodes|agents|hooks|copilot-instructions\.md)`,
    'GitHub Copilot: instructions, agents, hooks',
  ),
  named('agent', String.raw`\.carrel|carrel\.ya?ml`, 'Carrel: what sandboxes get'),
];

const pipelines: readonly GateName[] = [
  named('ci', String.raw`\.github/(?:workflows|actions)`, 'GitHub Actions'),
  named('ci', String.raw`\.(?:forgejo|gitea)/workflows`, 'Forgejo and Gitea Actions'),
  named('ci', String.raw`\.gitlab-ci\.yml|\.gitlab/ci`, 'GitLab CI, and the usual folder of what it includes'),
  named(
    'ci',
    String.raw`\.circleci|\.travis\.yml|jenkinsfile|\.cirrus\.(?:ya?ml|star)`,
    'CircleCI, Travis, Jenkins, Cirrus',
  ),
  named('ci', String.raw`azure-pipelines\.ya?ml|bitbucket-pipelines\.yml`, 'Azure and Bitbucket Pipelines'),
  named(
    'ci',
    String.raw`\.drone\.ya?ml|\.buildkite|\.woodpecker[^/]*|\.?appveyor\.ya?ml`,
    'Drone, Buildkite, Woodpecker, AppVeyor',
  ),
  named('ci', String.raw`\.pre-commit-config\.ya?ml`, 'pre-commit fetches and runs its hooks'),
];

const scripts: readonly GateName[] = [
  named(
    'scripts',
    String.raw`package\.json`,
    'npm and its like: scripts, hooks, where dependencies come from',
    'package',
  ),
  named('scripts', String.raw`package\.(?:json5|yaml)`, 'pnpm reads them like package.json'),
  named('scripts', String.raw`\.npmrc|\.yarnrc(?:\.yml)?|bunfig\.toml`, 'npm, Yarn, bun: registries, scripts, plugins'),
  named('scripts', String.raw`\.yarn/(?:releases|plugins)|\.pnp\.[^/]*js`, 'Yarn runs them'),
  named(
    'scripts',
    String.raw`\.pnpmfile\.[cm]?js|pnpm-workspace\.yaml`,
    'pnpm runs the one, and builds what the other lists',
  ),
  named('scripts', String.raw`binding\.gyp`, 'node-gyp builds by it, on install'),
  named('scripts', String.raw`setup\.py`, 'pip runs it'),
  named('scripts', String.raw`conftest\.py`, 'pytest imports it before any test'),
  named('scripts', String.raw`build\.rs|\.cargo/config(?:\.toml)?`, 'cargo builds and runs it; settings name programs'),
  named('scripts', String.raw`composer\.json`, 'Composer: scripts, plugins, repositories'),
  named('scripts', String.raw`\.mvn|mvnw(?:\.cmd)?`, 'Maven: extensions, and the wrapper that fetches it'),
  named(
    'scripts',
    String.raw`gradlew(?:\.bat)?|gradle/wrapper/[^/]*\.jar`,
    'the wrapper that fetches and starts Gradle',
  ),
  named('scripts', String.raw`\.bazelrc`, 'Bazel: options that name programs'),
  named('scripts', String.raw`(?:flake|shell|default)\.nix`, 'Nix evaluates and builds it'),
  named('scripts', String.raw`\.aimi/dockerfile\.sandbox(?:\.dockerignore)?`, 'Carrel builds images by it'),
  named('scripts', String.raw`(?:docker-)?compose(?:\.[^/]+)?\.ya?ml`, 'Docker Compose: mounts, commands'),
];

const dependencies: readonly GateName[] = [
  named(
    'dependencies',
    String.raw`package-lock\.json|npm-shrinkwrap\.json`,
    'npm ci installs what it says, and runs its scripts',
  ),
  named('dependencies', String.raw`yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|deno\.lock`, 'Yarn, pnpm, bun, Deno'),
  named(
    'dependencies',
    String.raw`uv\.lock|poetry\.lock|pdm\.lock|pipfile\.lock|pylock(?:\.[^/]+)?\.toml|pixi\.lock`,
    'uv, Poetry, PDM, Pipenv, pip, Pixi',
  ),
  named('dependencies', String.raw`cargo\.lock`, 'cargo builds what it says, build scripts included'),
  named('dependencies', String.raw`go\.sum|go\.work\.sum`, 'go checks what it fetched by it'),
  named('dependencies', String.raw`go\.mod|go\.work`, 'go: toolchain, tools, replaced modules', 'go-module'),
  named('dependencies', String.raw`gemfile\.lock|composer\.lock`, 'Bundler and Composer'),
  named(
    'dependencies',
    String.raw`mix\.lock|pubspec\.lock|podfile\.lock|package\.resolved|packages\.lock\.json|\.terraform\.lock\.hcl`,
    'mix, pub, CocoaPods, Swift, NuGet, Terraform',
  ),
  named('dependencies', String.raw`flake\.lock|devbox\.lock|mise\.lock`, 'Nix, Devbox, mise'),
  named(
    'dependencies',
    String.raw`gradle\.lockfile|gradle/verification-metadata\.xml`,
    'Gradle: versions and their hashes',
  ),
  named(
    'dependencies',
    String.raw`gradle/wrapper/gradle-wrapper\.properties`,
    'the Gradle wrapper fetches what distributionUrl names',
  ),
  named(
    'dependencies',
    String.raw`rust-toolchain(?:\.toml)?`,
    'rustup: which toolchain runs, a folder of the project too',
  ),
  named(
    'dependencies',
    String.raw`\.(?:nvmrc|node-version|bun-version|python-version|ruby-version|java-version|sdkmanrc)`,
    'version managers: which interpreter runs',
  ),
  named('dependencies', String.raw`global\.json`, 'dotnet: which SDK runs'),
];

export const gateNames: readonly GateName[] = [
  ...gitHooks,
  ...gitConfig,
  ...environment,
  ...editors,
  ...agents,
  ...pipelines,
  ...scripts,
  ...dependencies,
];
