/**
 * The sandboxes of one user, as the daemon and other nouns use them.
 *
 * A caller asks for a state: `create`, `start`, `stop`, `remove`, `change` write the spec, and the reconciler makes the
 * sandbox what its spec says (`reconcile/reconcile.ts`). Each of them returns when that is done or has failed.
 *
 *   create → pending → running → completed | failed | stopped → (removed)
 *                         ↑ start ─────────────┘
 *
 * Promises:
 * - A name belongs to one sandbox of the user; an id to one sandbox for ever. With an id, an act is refused if the name
 *   belongs to another sandbox by now.
 * - `current` observes before it answers and throws if the engine does not answer; `seen` answers from the record and says
 *   why it may be old; `kept` is for callers that only use the data of the sandbox on the host.
 * - `remove` without force refuses to lose work that is nowhere else.
 * - What a user may not have (a folder of others, a secret in a variable) is refused before anything is recorded.
 */
import type { Row, WriteOptions } from '../../kernel/store/store.ts';
import type { EncodedJson } from '../../lib/wire/encoded-json.ts';
import type { NewEvent } from '../../model/event.ts';
import type { SandboxRequest, SandboxView, StatsView } from './api.ts';
import type { Sandbox, SandboxSpec } from './model.ts';

type SandboxRow = Row<'sandbox'>;

export interface Sandboxes {
  /** The user whose sandboxes these are. */
  readonly owner: string;
  /** The account whose files this user may read; null: any account. */
  readonly account: number | null;
  readonly records: SandboxNames;

  create(request: SandboxRequest, id?: string): Promise<SandboxView>;
  /** What `create` would record, or its refusal. Nothing is done, except that missing volumes of the user are made. */
  check(request: SandboxRequest): SandboxSpec;
  /** `console`: a client attaches next. */
  start(name: string, console?: boolean): Promise<SandboxView>;
  stop(name: string, graceMs?: number, id?: string): Promise<SandboxView>;
  remove(name: string, removal?: Removal): Promise<SandboxView>;
  /** Changes the spec of an ended sandbox for the next start: what surrounds it, not what it is made of. */
  change(name: string, id: string, change: Partial<SandboxSpec>): void;

  rows(allUsers?: boolean): readonly SandboxRow[];
  current(name: string, id?: string): Promise<SandboxRow>;
  /** `unseen`: why the state may be old; null: it is as observed. */
  seen(name: string): Promise<{ row: SandboxRow; unseen: string | null }>;
  kept(name: string): Promise<SandboxRow>;

  show(name: string): Promise<SandboxView>;
  list(allUsers?: boolean): Promise<SandboxView[]>;
  listJson(allUsers?: boolean): Promise<EncodedJson>;
  stats(): Promise<StatsView[]>;
  view(sandbox: Sandbox, unseen?: string | null): SandboxView;

  /** Waits until the reconciler has nothing left to do for the sandbox. */
  settled(row: SandboxRow): Promise<SandboxView>;
  wait(name: string, signal: AbortSignal): Promise<SandboxView>;
  /** Resolves when this very sandbox has ended or is gone. */
  ended(sandbox: Sandbox, signal: AbortSignal): Promise<SandboxView>;
  /** Keeps an ended sandbox while a client reads from it, until the returned function is called. */
  hold(id: string): () => Promise<void>;

  /** The real folder of a project that this user may name. */
  project(path: string): string;
  /** Refuses values of secrets: other programs on the machine can read variables and arguments. */
  checkCommand(env: Readonly<Record<string, string>>, command: readonly string[]): void;
  /** The folder in which commands run that name none. */
  cwd(sandbox: Sandbox): string;
}

/** The names and records of a user. */
export interface SandboxNames {
  withId(id: string): SandboxRow | null;
  freeName(): string;
  refuseTaken(name: string): void;
  insert(value: Sandbox, event: NewEvent, options?: WriteOptions): SandboxRow;
}

export interface Removal {
  /** Removes the sandbox even if it runs or has changes that are not applied. */
  readonly force?: boolean | undefined;
  /** Removes the sandbox even if it runs, but not if it has changes that are not applied. */
  readonly running?: boolean | undefined;
  /** Removes the sandbox only if it ended at least so long ago, forced or not. */
  readonly staleMs?: number | undefined;
  readonly dryRun?: boolean | undefined;
  /** Removes only the sandbox with this id, even if another one has the name by now. */
  readonly id?: string | undefined;
}

/** What happens around each command that a client or a noun runs in a sandbox. */
export interface SandboxCommands {
  /** Records what the project has before a command can change it; never waits long. */
  starts(sandbox: Sandbox): Promise<void>;
  /** Records what a command may have changed. */
  ended(sandbox: Sandbox): Promise<void>;
  /** The commands of clients, by `exec` and `shell`, that run now. */
  readonly open: {
    has(sandbox: Pick<Sandbox, 'id'>): boolean;
    during<T>(sandbox: Pick<Sandbox, 'id'>, command: () => Promise<T>): Promise<T>;
  };
}
