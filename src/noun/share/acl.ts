/**
 * POSIX ACLs of a shared folder, as the kernel stores them in an extended attribute: a version, then entries of tag,
 * permissions and id. The access ACL decides about the folder, the default ACL is what new entries inherit. With a
 * default ACL the kernel ignores the umask of a writer, so that files of one consumer can be written by the others.
 */
import { fstatSync, type Stats } from 'node:fs';
import type { SysError } from '../../lib/sys/libc.ts';
import { readAttribute, removeAttribute, writeAttribute } from '../../lib/sys/sys-attribute.ts';
import { Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';

/** The access of one account or group, by its id as this process sees it. */
export interface AclEntry {
  readonly kind: 'user' | 'group';
  readonly id: number;
  readonly readonly: boolean;
}

interface Entry {
  readonly tag: number;
  readonly bits: number;
  readonly id: number;
}

const tags = { owner: 1, user: 2, group: 4, namedGroup: 8, mask: 16, other: 32 } as const;
const attributes = { access: 'system.posix_acl_access', inherited: 'system.posix_acl_default' } as const;
const version = 2;
const noId = 0xffff_ffff;
const [all, readAndEnter] = [7, 5];

/**
 * Changes the ACLs of an open folder: sets the entries for `grants` and removes those for `revoked`. Entries for other
 * ids stay. When none is left, the folder has no ACL, like one that was never shared.
 */
export function changeGrants(fd: number, grants: readonly AclEntry[], revoked: readonly AclEntry[]): void {
  const stat = fstatSync(fd);
  const before = { access: decodedAt(fd, attributes.access), inherited: decodedAt(fd, attributes.inherited) };
  const gone = [...grants, ...revoked, { kind: 'user', id: stat.uid, readonly: false } as const];
  const [access, inherited] = [before.access, before.inherited].map((list) => [
    ...list.filter((entry) => isNamed(entry) && !gone.some((grant) => isFor(entry, grant))),
    ...grants.map(({ kind, id, readonly }) => ({ tag: tagOf(kind), bits: readonly ? readAndEnter : all, id })),
  ]) as [Entry[], Entry[]];
  const own = ownBits(before.access, stat);
  if (inherited.length === 0) removeAttribute(fd, attributes.inherited);
  else writeAttribute(fd, attributes.inherited, encode(withOwn(inherited, { ...own, owner: all, other: 0 }, stat.uid)));
  if (access.length > 0 || before.access.length > 0)
    writeAttribute(fd, attributes.access, encode(withOwn(access, own)));
}

interface OwnBits {
  readonly owner: number;
  readonly group: number;
  readonly other: number;
}

/** With an ACL the group bits of the mode are its mask, so the bits of the group are in the ACL. */
function ownBits(access: readonly Entry[], { mode }: Stats): OwnBits {
  const group = access.find(({ tag }) => tag === tags.group)?.bits ?? (mode >> 3) & 7;
  return { owner: (mode >> 6) & 7, group, other: mode & 7 };
}

/**
 * In the order that the kernel requires. `heir`: the owner of the folder, who keeps access to files that others create.
 */
function withOwn(named: readonly Entry[], { owner, group, other }: OwnBits, heir?: number): Entry[] {
  const heirs = heir === undefined ? [] : [{ tag: tags.user, bits: all, id: heir }];
  return [
    { tag: tags.owner, bits: owner, id: noId },
    ...heirs,
    ...named.filter(({ tag }) => tag === tags.user),
    { tag: tags.group, bits: group, id: noId },
    ...named.filter(({ tag }) => tag === tags.namedGroup),
    ...(named.length + heirs.length === 0 ? [] : [{ tag: tags.mask, bits: all, id: noId }]),
    { tag: tags.other, bits: other, id: noId },
  ];
}

function tagOf(kind: AclEntry['kind']): number {
  return kind === 'user' ? tags.user : tags.namedGroup;
}

function isNamed({ tag }: Entry): boolean {
  return tag === tags.user || tag === tags.namedGroup;
}

function isFor(entry: Entry, { kind, id }: AclEntry): boolean {
  return entry.tag === tagOf(kind) && entry.id === id;
}

function decodedAt(fd: number, name: string): Entry[] {
  return decode(readAttribute(fd, name));
}

function encode(list: readonly Entry[]): Buffer {
  const bytes = Buffer.alloc(4 + 8 * list.length);
  bytes.writeUInt32LE(version, 0);
  list.forEach(({ tag, bits, id }, at) => {
    bytes.writeUInt16LE(tag, 4 + 8 * at);
    bytes.writeUInt16LE(bits, 6 + 8 * at);
    bytes.writeUInt32LE(id, 8 + 8 * at);
  });
  return bytes;
}

function decode(bytes: Buffer | null): Entry[] {
  const count = bytes === null ? 0 : Math.floor((bytes.length - 4) / 8);
  return Array.from({ length: count }, (_, at) => ({
    tag: bytes!.readUInt16LE(4 + 8 * at),
    bits: bytes!.readUInt16LE(6 + 8 * at),
    id: bytes!.readUInt32LE(8 + 8 * at),
  }));
}

/** Turns an error of `changeGrants` into a Fault. */
export function cannotGrant(folder: string, cause: SysError): Fault {
  const why = reasons[cause.code] ?? cause.message;
  return new Fault('unsupported', `no access to ${printable(folder)} can be granted: ${why}`, {
    hint: 'Put the share on ext4, xfs, btrfs or tmpfs, or run the daemon as root.',
    cause,
  });
}

const reasons: { readonly [code: string]: string } = {
  EOPNOTSUPP: 'its filesystem has no ACLs',
  EINVAL: 'the daemon cannot name that account; it has no right over ids outside of its own range',
  EPERM: 'the daemon does not own it',
};
