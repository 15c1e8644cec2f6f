/** Memory: notes that agents and people keep and find again. The rules are in docs/formats/memory.md. */
import { Fault } from '../../../model/fault.ts';
import { distinctBy, type GrantKind } from '../../../model/grant.ts';
import { printable } from '../../../model/name.ts';

export const scopeKinds = ['user', 'project', 'sandbox'] as const;
export type ScopeKind = (typeof scopeKinds)[number];

/** What a note belongs to: the user, a project by its folder, or a sandbox by its id. */
export type MemoryScope = 'user' | `project:${string}` | `sandbox:${string}`;

export function scopeKind(scope: MemoryScope): ScopeKind {
  return scope.split(':', 1)[0] as ScopeKind;
}

/** A scope in the spec of a sandbox: the user's, that of its own project, or its own. */
export interface MemoryGrant {
  readonly scope: ScopeKind;
  readonly readonly: boolean;
}

/** `user`, `project` or `sandbox`, with `:ro` for reading only. */
export function parseMemoryGrant(text: string): MemoryGrant {
  const [scope = '', ...rest] = text.split(':');
  const kind = scopeKinds.find((one) => one === scope);
  if (kind !== undefined && (rest.length === 0 || (rest.length === 1 && rest[0] === 'ro')))
    return { scope: kind, readonly: rest.length === 1 };
  throw new Fault('invalid', `${printable(text)} is not a scope of the memory`, {
    hint: 'Write user, project or sandbox, and :ro after it for reading only.',
  });
}

/** The scopes without repetitions. */
export function distinctScopes(grants: readonly MemoryGrant[]): MemoryGrant[] {
  return distinctBy(grants, ({ scope }) => scope);
}

function grantText({ scope, readonly }: MemoryGrant): string {
  return readonly ? `${scope}:ro` : scope;
}

/** The port of a sandbox's loopback at which it reaches the memory: below those that declared services may have. */
export const memoryPort = 17_009;
export const memoryEnv = { CARREL_MEMORY: `127.0.0.1:${memoryPort}` } as const;

const fields = { scope: { oneOf: scopeKinds }, readonly: 'boolean' } as const;

export const memoryGrantKind: GrantKind<MemoryGrant, MemoryGrant, 'memory', keyof MemoryGrant> = {
  request: fields,
  most: scopeKinds.length,
  option: {
    flags: '--memory-scope <SCOPE>',
    summary: 'let it save and search notes of user, project or sandbox; add :ro to read only; may be repeated',
    isForAgents: true,
  },
  declared: {
    ...{ key: 'memory', word: 'memory', maxText: 20 },
    description:
      'Scopes of the memory that it may use: `user`, `project` or `sandbox`, with `:ro` to read only. Default: none.',
    example: ['project', 'user:ro'],
    texts: (requests) => requests.map(grantText).sort(),
  },
  parse: parseMemoryGrant,
  distinct: distinctScopes,
  nameOf: ({ scope }) => scope,
  view: fields,
  metadata: grantText,
  env: memoryEnv,
  server: { name: 'memory', program: 'carrel-memory', args: [] },
};

export const collectionPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
export const collectionRule = 'A collection has 1 to 64 letters, digits and "._-", and starts with a letter or digit.';
export const defaultCollection = 'notes';
export const metadataKeyPattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;
export const modelPattern = /^[\x21-\x7e]{1,128}$/;
export const noteIdRule = 'An id of a note has 26 letters and digits, such as 01JD8Q4Z7W3V5T1N9R2B6C8D0E.';

export function checkCollection(name: string): string {
  if (collectionPattern.test(name)) return name;
  throw new Fault('invalid', `${printable(name)} is not a name for a collection`, { hint: collectionRule });
}

export type MetadataValue = string | number | boolean;
export type Metadata = Readonly<Record<string, MetadataValue>>;

/** The author of a note, as the daemon knows it. */
export interface Writer {
  readonly kind: 'person' | 'sandbox' | 'token';
  /** The name of the user or the sandbox; for a token, its id. */
  readonly name: string;
  /** The id of the sandbox or token; null: a person. */
  readonly id: string | null;
  /** The agent that the sandbox was created for. */
  readonly agent: string | null;
  /** The session of that sandbox that had a turn at that time; null: there was none, or more than one. */
  readonly session: string | null;
}

export const noteVias = ['cli', 'hub', 'sandbox', 'import'] as const;
export type NoteVia = (typeof noteVias)[number];

/** The author and the time of a note according to an imported file. The daemon cannot check them. */
export interface NoteOrigin {
  readonly by: string;
  readonly at: string;
}

export interface Note {
  /** ULID. Greater than that of every earlier note of the user. */
  readonly id: string;
  readonly scope: MemoryScope;
  readonly collection: string;
  readonly text: string;
  readonly metadata: Metadata;
  readonly by: Writer;
  readonly via: NoteVia;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly expiresAt: string | null;
  readonly origin: NoteOrigin | null;
  /** False: a search finds the note only by its text. */
  readonly hasVector: boolean;
}

/** The limits of one user. `noteBytes`, `metadataBytes` and `dimensions` are limits of one note. */
export interface MemoryLimits {
  /** All notes together, with metadata and vectors. */
  readonly totalBytes: number;
  readonly noteBytes: number;
  readonly metadataBytes: number;
  readonly collections: number;
  readonly dimensions: number;
}

export const defaultMemoryLimits: MemoryLimits = {
  totalBytes: 1024 ** 3,
  noteBytes: 64 * 1024,
  metadataBytes: 4096,
  collections: 1000,
  dimensions: 4096,
};

/** M7: neither the reader wrote the note, nor the user by hand. */
export function isForeign({ by, via }: Pick<Note, 'by' | 'via'>, reader: Pick<Writer, 'kind' | 'id'>): boolean {
  if (via === 'import') return true;
  return by.kind !== 'person' && (by.kind !== reader.kind || by.id !== reader.id);
}
