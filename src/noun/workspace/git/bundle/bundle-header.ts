/** The header of a git bundle, parsed strictly: an agent wrote it. */
import { Fault } from '../../../../model/fault.ts';
import { blank, hasInvisible } from '../../../../model/invisible.ts';
import { printable } from '../../../../model/name.ts';

export interface BundleRef {
  /** The name of a local branch, without `refs/heads/`; null: HEAD. */
  readonly branch: string | null;
  readonly oid: string;
}

export interface BundleHeader {
  readonly refs: readonly BundleRef[];
  /** Where the pack begins. */
  readonly lengthBytes: number;
}

/** A header that is longer is refused. */
export const maxHeaderBytes = 256 * 1024;
const maxRefs = 256;
const maxNameBytes = 200;

export function parseBundleHeader(start: Buffer, oidLength: 40 | 64): BundleHeader {
  const end = start.subarray(0, maxHeaderBytes).indexOf('\n\n');
  if (end < 0) throw refused('it has no header, or one that is too long');
  const [version, ...lines] = start.toString('utf8', 0, end).split('\n');
  const rest = version === '# v3 git bundle' ? withoutFormat(lines, oidLength) : lines;
  if (version !== '# v2 git bundle' && version !== '# v3 git bundle') throw refused('it is not a git bundle');
  const refs = rest.filter((line) => !isPrerequisite(line, oidLength)).map((line) => parseRef(line, oidLength));
  if (refs.length === 0) throw refused('it has no branches');
  if (refs.length > maxRefs) throw refused(`it has more than ${maxRefs} branches`);
  refuseClashes(refs);
  return { refs, lengthBytes: end + 2 };
}

/** The object format is the only capability that is allowed; a filter would make the bundle incomplete. */
function withoutFormat(lines: readonly string[], oidLength: number): string[] {
  const format = `@object-format=${oidLength === 40 ? 'sha1' : 'sha256'}`;
  return lines.filter((line) => line !== format);
}

function isPrerequisite(line: string, oidLength: number): boolean {
  return line.startsWith('-') && isOid(line.slice(1, 1 + oidLength)) && /^(?: |$)/.test(line.slice(1 + oidLength));
}

function parseRef(line: string, oidLength: number): BundleRef {
  const oid = line.slice(0, oidLength);
  const name = line.slice(oidLength + 1);
  if (!isOid(oid) || line[oidLength] !== ' ') throw refused('its header cannot be read');
  if (name === 'HEAD') return { branch: null, oid };
  if (!name.startsWith('refs/heads/')) throw refused('it has a ref that is not a branch');
  const branch = name.slice('refs/heads/'.length);
  if (!isBranchName(branch)) throw refused(`${printable(branch)} is refused as the name of a branch`);
  return { branch, oid };
}

function isOid(text: string): boolean {
  return /^[0-9a-f]{40,64}$/.test(text);
}

/** The rules of git, and stricter: no part begins with a dash, no character is invisible, and all of it is text. */
export function isBranchName(name: string): boolean {
  if (name.length > maxNameBytes || /[\u0000-\u0020\u007f~^:?*[\\\ufffd]|\.\.|@\{/.test(name)) return false;
  if (hasInvisible(name) || name.search(blank) >= 0) return false;
  return name !== '@' && name.split('/').every((part) => /^[^.-]/.test(part) && !/(?:\.lock|\.)$/.test(part));
}

/** No branch occurs twice, and none is a folder of another. */
function refuseClashes(refs: readonly BundleRef[]): void {
  const names = new Set(refs.map(({ branch }) => branch));
  if (names.size < refs.length) throw refused('it has a branch twice');
  for (const { branch } of refs) {
    for (let end = branch?.indexOf('/') ?? -1; end >= 0; end = branch!.indexOf('/', end + 1))
      if (names.has(branch!.slice(0, end))) throw refused('the names of two of its branches exclude each other');
  }
}

export function refused(why: string): Fault {
  return new Fault('invalid', `the bundle of its commits is refused: ${why}`);
}
