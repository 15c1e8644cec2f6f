/**
 * What the archive of a volume may contain: folders, files, hard and symbolic links, under names that stay inside and
 * pass through no link. Everything else is refused, except entries that any user can make and that hold no data: those
 * are left out.
 */
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import type { Header } from './member.ts';

/** A longer path cannot be passed to one system call. */
export const maxPathBytes = 4000;

/** Limits the memory that remembered names take. */
const maxRemembered = 2_000_000;

export interface ArchiveMember extends Header {
  readonly records: ReadonlyMap<string, string>;
}

export type MemberVerdict = 'take' | 'leave-out';

const known = new Set(['path', 'linkpath', 'size', 'uid', 'gid', 'uname', 'gname', 'mtime', 'atime', 'ctime']);
const knownSparse = new Set(['GNU.sparse.major', 'GNU.sparse.minor', 'GNU.sparse.name', 'GNU.sparse.realsize']);

export class MemberRule {
  readonly #links = new Set<string>();
  readonly #leftOut = new Set<string>();

  /** Names that were left out. */
  get leftOut(): ReadonlySet<string> {
    return this.#leftOut;
  }

  judge(member: ArchiveMember): MemberVerdict {
    checkRecords(member);
    const name = checkName(member.records.get('GNU.sparse.name') ?? member.name, member.type);
    this.#checkWay(name);
    if (member.type === '1') return this.#judgeLink(member, name);
    if (isUnwanted(member) || name.length > maxPathBytes) return this.#leave(name);
    if (!['0', '2', '5'].includes(member.type)) throw refused(name, 'is neither a folder nor a file nor a link');
    if (member.type !== '0' && member.sizeBytes !== 0) throw refused(name, 'has content where it cannot');
    if (member.type === '2') this.#remember(this.#links, name);
    return 'take';
  }

  #judgeLink(member: ArchiveMember, name: string): MemberVerdict {
    const target = checkName(member.linkName, member.type);
    this.#checkWay(target);
    if (member.sizeBytes !== 0) throw refused(name, 'has content where it cannot');
    if (this.#leftOut.has(target) || name.length > maxPathBytes) return this.#leave(name);
    if (this.#links.has(target)) this.#remember(this.#links, name);
    return 'take';
  }

  #checkWay(name: string): void {
    for (let at = name.indexOf('/'); at >= 0; at = name.indexOf('/', at + 1)) {
      if (this.#links.has(name.slice(0, at))) throw refused(name, 'leads through a link');
    }
  }

  #leave(name: string): MemberVerdict {
    this.#remember(this.#leftOut, name);
    return 'leave-out';
  }

  #remember(names: Set<string>, name: string): void {
    names.add(name);
    if (names.size > maxRemembered) throw new Fault('exhausted', 'the archive holds too many links');
  }
}

/** Pipes, and whiteouts of overlays, which any user may make: neither has content. */
function isUnwanted({ type, device }: ArchiveMember): boolean {
  return type === '6' || (type === '3' && device === '0:0');
}

/**
 * The name relative to the volume, without a leading `./` and a trailing `/`; the volume itself is the empty name. Only
 * a folder may have a trailing `/`: some parsers take a file of such a name for a folder, and its content for the next
 * entry.
 */
function checkName(name: string, type: string): string {
  const inner = name.replace(/^\.(\/|$)/, '');
  if (inner === '' && name !== '' && type === '5') return '';
  const parts = (type === '5' ? inner.replace(/\/$/, '') : inner).split('/');
  const wrong = parts.some((part) => part === '' || part === '.' || part === '..');
  if (wrong || name.includes('\0')) throw refused(name, 'leads out of the volume');
  return parts.join('/');
}

function checkRecords({ records, name, type }: ArchiveMember): void {
  for (const key of records.keys()) {
    if (known.has(key) || key.startsWith('SCHILY.xattr.user.')) continue;
    if (type !== '0' || !knownSparse.has(key)) throw refused(name, `has ${printable(key)}, which is not known`);
  }
  const version = [records.get('GNU.sparse.major'), records.get('GNU.sparse.minor')].join('.');
  if (version !== '.' && version !== '1.0') throw refused(name, 'is sparse in an unknown way');
}

function refused(name: string, why: string): Fault {
  return new Fault('invalid', `the archive cannot be restored: ${printable(name)} ${why}`);
}
