/**
 * What could later run something on the host, told by path, mode, link target and, for a few files, by content. The list
 * is code, so nothing that an agent can write has a say in it. It errs towards asking.
 *
 * Names count at any depth and the way careless filesystems read them: in any case, with trailing dots and spaces, with
 * invisible characters, by the short name `git~1`. Folders run nothing themselves; what is in them is told by path.
 */
import { type BytePath, isWithin, toText } from '../../model/byte-path.ts';
import type { Change, Entry, GateKind } from '../../model/change.ts';
import { attributesDiffer, isRepositoryPart, scriptsDiffer } from './gate-content.ts';
import { type GateGround, noGround } from './gate-ground.ts';

/** The content of the file before and after; null where it cannot be had, which counts as dangerous. */
export interface GateContent {
  before(): Uint8Array | null;
  after(): Uint8Array | null;
}

type Changed = Pick<Change, 'path' | 'before' | 'after'>;
type Judge = (change: Changed, content: GateContent) => boolean;

const always: Judge = () => true;
/** Told by content only between files; anything else in its place is told by its name. */
const byContent =
  (differ: (before: Uint8Array | null, after: Uint8Array | null) => boolean): Judge =>
  ({ before, after }, content) => {
    if (![before, after].every((entry) => entry === null || entry.type === 'file')) return true;
    const [old, now] = [before && content.before(), after && content.after()];
    if ((before && !old) || (after && !now)) return true;
    return differ(old, now);
  };

interface Rule {
  readonly kind: GateKind;
  readonly names: RegExp;
  readonly judge: Judge;
}

/** A rule for whole names: each is a folder with all in it, or a file. */
function rule(kind: GateKind, names: string, judge = always): Rule {
  return { kind, names: new RegExp(`(?:^|/)(?:${names})(?:/|$)`), judge };
}

const rules: readonly Rule[] = [
  rule('git-hooks', String.raw`\.git/(?:.*/)?hooks|\.githooks|\.husky|\.huskyrc[^/]*`),
  rule('git-hooks', String.raw`\.?lefthook(?:-local)?(?:\.[^/]+)?|\.lefthook[^/]*|\.overcommit\.yml`),
  rule('git-hooks', String.raw`\.lintstagedrc[^/]*|lint-staged\.config\.[^/]+`),
  rule(
    'git-config',
    String.raw`\.git(?!/(?:info/attributes$|(?:.*/)?hooks/))|\.gitmodules|\.gitconfig|\.lfsconfig|\.hg/hgrc[^/]*`,
  ),
  rule('git-config', String.raw`(?:head|config|config\.worktree)$`, byContent(isRepositoryPart)),
  rule('attributes', String.raw`\.gitattributes|\.git/(?:.*/)?info/attributes`, byContent(attributesDiffer)),
  rule('env', String.raw`\.envrc|\.env(?:\.(?!example|sample|template)[^/]*)?|\.tool-versions|\.direnv`),
  rule('env', String.raw`\.?mise(?:\.[^/]+)?\.toml|\.?mise|\.rtx\.toml|\.autoenv[^/]*`),
  rule(
    'editor',
    String.raw`\.(?:vscode|idea|vim|nvim|exrc|nvimrc|vimrc|dir-locals(?:-2)?\.el|devcontainer|zed|fleet|helix)`,
  ),
  rule('editor', String.raw`\.devcontainer\.json|\.nvim\.lua|\.lvimrc|[^/]*\.code-workspace|[^/]*\.sublime-project`),
  rule('editor', String.raw`\.gdbinit|\.lldbinit`),
  rule('agent', String.raw`\.(?:claude|cursor|gemini|codex|opencode|continue|windsurf|roo|kiro|carrel)`),
  rule('agent', String.raw`\.github/(?:instructions|prompts|chatmodes)`),
  rule('agent', String.raw`\.aider[^/]*|\.mcp\.json|\.clinerules[^/]*|\.(?:cursor|windsurf)rules|carrel\.ya?ml`),
  rule(
    'agent',
    String.raw`(?:agents|claude|gemini)(?:\.local)?\.md|\.github/copilot-instructions\.md|opencode\.jsonc?`,
  ),
  rule('ci', String.raw`\.github/(?:workflows|actions)|\.gitlab-ci\.yml|\.circleci|\.travis\.yml|jenkinsfile`),
  rule('ci', String.raw`azure-pipelines\.ya?ml|bitbucket-pipelines\.yml|\.drone\.ya?ml|\.buildkite|\.woodpecker[^/]*`),
  rule('ci', String.raw`\.?appveyor\.ya?ml|\.pre-commit-config\.ya?ml|\.forgejo/workflows|\.gitea/workflows`),
  rule('scripts', String.raw`package\.json`, byContent(scriptsDiffer)),
  rule(
    'scripts',
    String.raw`\.npmrc|\.yarnrc(?:\.yml)?|\.yarn/(?:releases|plugins)|\.pnp\.[^/]*js|\.pnpmfile\.[cm]?js`,
  ),
  rule('scripts', String.raw`binding\.gyp|setup\.py|build\.rs|composer\.json|bunfig\.toml`),
  rule('scripts', String.raw`\.cargo/config(?:\.toml)?|\.mvn|\.bazelrc|pnpm-workspace\.yaml`),
  rule('scripts', String.raw`(?:flake|shell|default)\.nix|\.aimi/dockerfile\.sandbox(?:\.dockerignore)?`),
  rule('scripts', String.raw`(?:docker-)?compose(?:\.[^/]+)?\.ya?ml`),
];

export function gatesOf(change: Changed, content: GateContent, ground: GateGround = noGround): GateKind[] {
  if (isFolderOrNothing(change.before) && isFolderOrNothing(change.after)) return [];
  const name = plainName(change.path);
  const kinds = rules.filter(({ names, judge }) => names.test(name) && judge(change, content)).map(({ kind }) => kind);
  if (ground.hooks.some((folder) => isWithin(name, plainName(folder)))) kinds.push('git-hooks');
  if (gainsExecution(change)) kinds.push('executable');
  if (change.after?.type === 'link' && leadsOut(change.path, change.after.target ?? '', ground)) kinds.push('symlink');
  return [...new Set(kinds)];
}

function isFolderOrNothing(entry: Entry | null): boolean {
  return entry === null || entry.type === 'folder';
}

function gainsExecution({ before, after }: Changed): boolean {
  const runs = (entry: Entry | null) => entry?.type === 'file' && (entry.mode & 0o111) !== 0;
  return runs(after) && !runs(before);
}

/** As a filesystem that takes different names for one would see it. */
function plainName(path: BytePath): string {
  return toText(path).split(/[/\\]/).map(plainPart).join('/');
}

function plainPart(part: string): string {
  const plain = part
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .replace(/:.*$/, '')
    .replace(/[. ]+$/, '');
  return /^git~\d$/.test(plain) ? '.git' : plain;
}

/** As the kernel does; what goes in circles leads nowhere. */
const maxLinks = 40;

/**
 * Only leading `..` can be told from the text: after a name, which may be another link, they lead anywhere. So such a
 * target counts as leading out, like an absolute one, one that climbs above the project, one into a repository, and one by
 * way of a link that leads out.
 */
function leadsOut(path: BytePath, target: BytePath, ground: GateGround, links = 0): boolean {
  if (target.startsWith('/')) return true;
  const parts = target.split('/').filter((part) => part !== '' && part !== '.');
  const climbs = parts.findIndex((part) => part !== '..');
  const ups = climbs === -1 ? parts.length : climbs;
  if (parts.slice(ups).includes('..')) return true;
  const folder = path.split('/').slice(0, -1);
  if (ups > folder.length) return true;
  const way = [...folder.slice(0, folder.length - ups), ...parts.slice(ups)];
  if (way.some((part) => plainName(part) === '.git')) return true;
  return links < maxLinks && way.some((_, n) => byLink(way.slice(0, n + 1).join('/'), way.slice(n + 1), ground, links));
}

function byLink(link: BytePath, rest: readonly BytePath[], ground: GateGround, links: number): boolean {
  const target = ground.linkAt(link);
  return target !== null && leadsOut(link, [target, ...rest].join('/'), ground, links + 1);
}
