import { Fault } from '../../model/fault.ts';
import type { GrantKind } from '../../model/grant.ts';
import type { FolderIdentity, Mount } from '../../model/mount.ts';
import { printable, sandboxNamePattern } from '../../model/name.ts';
import { projectIdPattern } from '../project/model/project.ts';
import { isInsidePath } from '../volume/model.ts';

/**
 * A share: a folder of the host that several consumers see, each at a path of its own. `folder` is the real path, and
 * `identity` says which folder was there when the share was added: another folder at the same path is never mounted.
 */
export interface Share {
  readonly name: string;
  readonly folder: string;
  readonly identity: FolderIdentity;
  /** The group, by its id on the host, by which containers outside of Carrel have access. */
  readonly groupId: number;
  readonly consumers: readonly Consumer[];
  /** A revocation that has begun; null or absent: none has. The next daemon finishes it. */
  readonly revoking?: Revoking | null;
  readonly createdAt: string;
}

export interface Revoking {
  /** The consumer as `consumerText` writes it; null: all consumers, and the share itself. */
  readonly consumer: string | null;
  /** True: sandboxes that have files of the share open are stopped. */
  readonly force: boolean;
}

export const consumerKinds = ['sandbox', 'project', 'docker', 'lxc', 'person'] as const;
export type ConsumerKind = (typeof consumerKinds)[number];

/** A sandbox or project of the share's owner, or a container, guest or account outside of Carrel. */
export interface Consumer {
  readonly kind: ConsumerKind;
  readonly name: string;
  /** Where the consumer sees the folder. For a person: the folder itself. */
  readonly path: string;
  readonly readonly: boolean;
  /** The id on the host that a container, a guest or a person has; null: access is by the group of the share. */
  readonly uid: number | null;
}

/** A share in the spec of a sandbox. */
export interface ShareMount {
  /** The id of the share's row. */
  readonly id: string;
  readonly name: string;
  readonly folder: string;
  readonly identity: FolderIdentity;
  readonly target: string;
  readonly readonly: boolean;
}

/** `--share NAME[:PATH][:ro]` of run and create. */
export interface ShareRequest {
  readonly share: string;
  readonly target?: string | undefined;
  readonly readonly?: boolean | undefined;
}

/** Programs for which Carrel can write configuration lines of a share. */
export const renderForms = ['docker', 'compose', 'lxc', 'coolify'] as const;
export type RenderForm = (typeof renderForms)[number];

export const shareNamePattern = /^[a-z0-9][a-z0-9-]{0,62}$/;
const containerPattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;
const loginPattern = /^[A-Za-z_][A-Za-z0-9_.@-]{0,63}$/;

/** The pattern of a consumer's name, by kind. */
const namePatterns: { readonly [kind in ConsumerKind]: RegExp } = {
  sandbox: sandboxNamePattern,
  project: projectIdPattern,
  docker: containerPattern,
  lxc: containerPattern,
  person: loginPattern,
};

export function checkShareName(name: string): string {
  if (shareNamePattern.test(name)) return name;
  throw new Fault('invalid', `${printable(name)} is not the name of a share`, {
    hint: 'Use 1 to 63 of a-z, 0-9 and "-", starting with a letter or digit.',
  });
}

/** The path of a share in a sandbox if the user names none. */
export function defaultTarget(share: string): string {
  return `/shares/${share}`;
}

/** `--at`: CONSUMER[@UID]=PATH[:ro]; a person sees the folder where it is: person:LOGIN[:ro]. */
export interface ConsumerRequest {
  readonly kind: ConsumerKind;
  readonly name: string;
  /** Null: the consumer is a person. */
  readonly path: string | null;
  readonly readonly: boolean;
  /**
   * The account inside of a container or a guest that needs access; null: any account in a container, root in a guest.
   */
  readonly uid: number | null;
}

export function parseConsumerRequest(text: string): ConsumerRequest {
  const readonly = text.endsWith(':ro');
  const [consumer = '', ...rest] = (readonly ? text.slice(0, -':ro'.length) : text).split('=');
  const [, named = consumer, uid] = /^((?:docker|lxc):.*)@(\d{1,9})$/.exec(consumer) ?? [];
  const path = rest.length === 0 ? null : rest.join('=');
  return checkConsumerRequest({ ...parseConsumer(named), path, readonly, uid: uid === undefined ? null : Number(uid) });
}

export function checkConsumerRequest(request: ConsumerRequest): ConsumerRequest {
  const { kind, name, path, uid } = request;
  parseConsumer(`${kind}:${name}`);
  if (uid !== null && kind !== 'docker' && kind !== 'lxc')
    throw new Fault('invalid', `a uid is named for containers and guests only, not for ${kind}:${name}`);
  if (kind === 'person' && path !== null)
    throw new Fault('invalid', 'a person sees the folder where it is, so no path is named', {
      hint: `Write person:${name} or person:${name}:ro`,
    });
  if (kind !== 'person' && (path === null || !isInsidePath(path))) throw noPath(request);
  return request;
}

function noPath({ kind, name, path }: ConsumerRequest): Fault {
  const what = path === null ? 'needs the path where it sees the share' : `cannot see a share at ${printable(path)}`;
  return new Fault('invalid', `${kind}:${printable(name)} ${what}`, {
    hint: 'Write CONSUMER=PATH or CONSUMER=PATH:ro, with an absolute PATH, such as web=/data/inbox.',
  });
}

/** `KIND:NAME`, or the name of a sandbox alone. */
export function parseConsumer(text: string): { readonly kind: ConsumerKind; readonly name: string } {
  const colon = text.indexOf(':');
  const kind = (colon < 0 ? 'sandbox' : text.slice(0, colon)) as ConsumerKind;
  const name = text.slice(colon + 1);
  if (consumerKinds.includes(kind) && namePatterns[kind].test(name)) return { kind, name };
  throw new Fault('invalid', `${printable(text)} does not name a consumer`, {
    hint: 'Write the name of a sandbox, or project:ID, docker:CONTAINER, lxc:ID or person:LOGIN.',
  });
}

export function consumerText({ kind, name }: Pick<Consumer, 'kind' | 'name'>): string {
  return `${kind}:${name}`;
}

export function isOutside({ kind }: Pick<Consumer, 'kind'>): boolean {
  return kind === 'docker' || kind === 'lxc' || kind === 'person';
}

export function parseShareRequest(text: string): ShareRequest {
  const readonly = text.endsWith(':ro');
  const [share = '', ...rest] = (readonly ? text.slice(0, -':ro'.length) : text).split(':');
  const target = rest.length === 0 ? undefined : rest.join(':');
  checkShareName(share);
  if (target !== undefined && !isInsidePath(target))
    throw new Fault('invalid', `${printable(text)} does not say where the share is to be`, {
      hint: 'Write NAME, NAME:PATH or NAME:PATH:ro, with an absolute PATH, such as inbox:/data/inbox.',
    });
  return { share, ...(target === undefined ? {} : { target }), ...(readonly ? { readonly } : {}) };
}

export const shareGrantKind: GrantKind<ShareRequest, ShareMount, never, 'name' | 'folder' | 'target' | 'readonly'> = {
  request: {
    share: { pattern: shareNamePattern },
    target: { optional: 'path' },
    readonly: { optional: 'boolean' },
  },
  most: 20,
  option: {
    flags: '--share <NAME>',
    summary: 'mount a share at /shares/NAME, or NAME:PATH; add :ro for read-only; may be repeated',
    completes: 'shares',
    isForAgents: false,
  },
  declared: null,
  parse: parseShareRequest,
  nameOf: ({ share }) => share,
  view: { name: 'text', folder: 'text', target: 'text', readonly: 'boolean' },
  mounts: (granted) => [shareBind(granted)],
};

/** The mount of a share: the owner of the folder appears as agent. */
export function shareBind({ folder, identity, target, readonly }: ShareMount): Extract<Mount, { kind: 'bind' }> {
  return { kind: 'bind', source: folder, target, readonly, mapOwner: true, shared: identity };
}

/**
 * Paths at which no share can be mounted. A share needs a path that is in no folder that agents can write, so that the
 * path leads to the mount as long as the sandbox runs.
 */
const reserved =
  /^\/(\.|(bin|dev|etc|home|lib|lib32|lib64|opt\/carrel|proc|rooms|run|sbin|sys|tmp|usr|var|workspace)(\/|$)|opt$)/;

export function checkTarget(target: string): string {
  if (isInsidePath(target) && !reserved.test(target)) return target;
  throw new Fault('invalid', `no share can be mounted at ${printable(target)}`, {
    hint: 'Choose a path of its own, such as /data/inbox, or leave it out for /shares/NAME.',
  });
}
