/**
 * Recognises changes that could later run a program on the host: by path, mode, link target and, for a few files, by
 * content. The list of names (`gate-names.ts`) is code, so an agent cannot change it. In doubt a change is gated.
 *
 * Names match at any depth, and in every spelling that some filesystem takes for the same name: in any case, with
 * trailing dots and spaces, with invisible characters, by the short name `git~1`. A folder itself runs nothing; the
 * files in it are recognised by their paths.
 */
import type { BytePath } from '../../../../model/byte-path.ts';
import type { Change, Entry, GateKind } from '../../model/change.ts';
import { dependencyNote, maxLockBytes } from './dependency/dependency-note.ts';
import { attributesDiffer, isRepositoryPart, modulesDiffer, scriptsDiffer } from './gate-content.ts';
import { type GateContext, noGateContext } from './gate-context.ts';
import { type GateName, gateNames, type JudgedBy } from './gate-names.ts';
import { plainName } from './link/plain-name.ts';

/** The content of the file before and after; null: it cannot be read or is larger, which counts as dangerous. */
export interface GateContent {
  before(maxBytes: number): Uint8Array | null;
  after(maxBytes: number): Uint8Array | null;
}

export interface GateVerdict {
  readonly gates: GateKind[];
  /** One line about the change that says more than the gates do; null: there is none. */
  readonly note: string | null;
}

type Changed = Pick<Change, 'path' | 'before' | 'after'>;
type Judge = (change: Changed, content: GateContent) => boolean;

/** Larger files are gated without being read. */
export const maxGateBytes = 1024 * 1024;

/** Compares the contents if both sides are files or absent; otherwise the name alone decides. */
const byContent =
  (differ: (before: Uint8Array | null, after: Uint8Array | null) => boolean): Judge =>
  ({ before, after }, content) => {
    if (![before, after].every((entry) => entry === null || entry.type === 'file')) return true;
    const [old, now] = [before && content.before(maxGateBytes), after && content.after(maxGateBytes)];
    if ((before && !old) || (after && !now)) return true;
    return differ(old, now);
  };

const judges: Readonly<Record<JudgedBy, Judge>> = {
  any: () => true,
  attributes: byContent(attributesDiffer),
  repository: byContent(isRepositoryPart),
  package: byContent(scriptsDiffer),
  'go-module': byContent(modulesDiffer),
};

const rules = gateNames.map(({ names, ...rest }: GateName) => ({
  ...rest,
  pattern: new RegExp(`(?:^|/)(?:${names})(?:/|$)`),
}));

/** Most paths match no rule, and one pattern is quicker than one for each rule. */
const anyRule = new RegExp(rules.map(({ pattern }) => pattern.source).join('|'));

export function gatesOf(change: Changed, content: GateContent, gateContext: GateContext = noGateContext): GateKind[] {
  return verdictOf(change, content, gateContext).gates;
}

/** Checks a change under each name by which the project reaches the path. */
export function verdictOf(
  change: Changed,
  content: GateContent,
  gateContext: GateContext = noGateContext,
): GateVerdict {
  if (isFolderOrNothing(change.before) && isFolderOrNothing(change.after)) return { gates: [], note: null };
  const own = plainName(change.path);
  const { names, whole } = gateContext.namesOf(own);
  const kinds = new Set<GateKind>();
  for (const { kind, pattern, judged } of names.some((name) => anyRule.test(name)) ? rules : [])
    if (!kinds.has(kind) && names.some((name) => pattern.test(name)) && judges[judged](change, content))
      kinds.add(kind);
  if (gainsExecution(change)) kinds.add('executable');
  if (!whole || (change.after?.type === 'link' && leadsOut(change.path, change.after.target ?? '', gateContext)))
    kinds.add('symlink');
  const note = whole ? null : 'the project has too many links to find every name of this file';
  return { gates: [...kinds], note: note ?? (kinds.has('dependencies') ? noteOn(change, content, names) : null) };
}

function noteOn({ before, after }: Changed, content: GateContent, names: readonly string[]): string | null {
  if (after?.type !== 'file' || (before !== null && before.type !== 'file')) return null;
  const [old, now] = [before && content.before(maxLockBytes), content.after(maxLockBytes)];
  if (now === null || (before && !old)) return `what it pins is not known: it is too large, or cannot be read`;
  const rule = rules.find(({ kind, pattern }) => kind === 'dependencies' && names.some((name) => pattern.test(name)));
  const name = names.find((one) => rule?.pattern.test(one)) ?? '';
  return dependencyNote(name.split('/').at(-1)!, old, now);
}

function isFolderOrNothing(entry: Entry | null): boolean {
  return entry === null || entry.type === 'folder';
}

function gainsExecution({ before, after }: Changed): boolean {
  const runs = (entry: Entry | null) => entry?.type === 'file' && (entry.mode & 0o111) !== 0;
  return runs(after) && !runs(before);
}

/** The kernel follows at most this many links; a circle of links leads nowhere. */
const maxLinks = 40;

/**
 * Only leading `..` can be resolved from the text: a `..` after a name may lead anywhere, since the name may be a link.
 * A target counts as leading out if it has such a `..`, is absolute, climbs above the project, leads into a repository,
 * or passes a link that leads out.
 */
function leadsOut(path: BytePath, target: BytePath, gateContext: GateContext, links = 0): boolean {
  if (target.startsWith('/')) return true;
  const parts = target.split('/').filter((part) => part !== '' && part !== '.');
  const climbs = parts.findIndex((part) => part !== '..');
  const ups = climbs === -1 ? parts.length : climbs;
  if (parts.slice(ups).includes('..')) return true;
  const folder = path.split('/').slice(0, -1);
  if (ups > folder.length) return true;
  const way = [...folder.slice(0, folder.length - ups), ...parts.slice(ups)];
  if (way.some((part) => plainName(part) === '.git')) return true;
  return (
    links < maxLinks && way.some((_, n) => byLink(way.slice(0, n + 1).join('/'), way.slice(n + 1), gateContext, links))
  );
}

function byLink(link: BytePath, rest: readonly BytePath[], gateContext: GateContext, links: number): boolean {
  const target = gateContext.linkAt(link);
  return target !== null && leadsOut(link, [target, ...rest].join('/'), gateContext, links + 1);
}
