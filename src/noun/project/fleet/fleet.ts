/**
 * A fleet: the projects, sandboxes, volumes and secrets that one `carrel.yaml` declares.
 *
 *   content ── declare ──► Declaration ── plan(declared, existing) ──► steps ── carried out through the API, then planned anew
 *                               └─── compose ──► docker-compose.yml
 *
 * All functions are pure. The command line reads the file and the daemon gets its content as plain data; a problem names its
 * field by the path in that data. No state is kept between two plans: what a crash, another `up` or a user left behind is
 * part of the observed state. When a plan has no steps, the machine is as declared.
 *
 * Promises:
 * - A sandbox belongs to a fleet only if the fleet created it: its label holds the fleet and the name of the
 *   sandbox. A fork inherits labels but has another name, so it belongs to no fleet. Other sandboxes are never changed; if
 *   one has a declared name, that is a problem.
 * - Sandboxes that are as declared are not touched. One whose declaration changed is replaced, one that is no longer declared
 *   is removed; neither while it has changes that were not applied.
 * - A watcher of a room belongs to the fleet that added it, and is changed or removed with its declaration.
 * - Volumes and rooms are created and never removed. Secrets are named; their values are not in the file.
 * - Everything that can be checked is refused before the first step.
 */

import type { EngineName, RuntimeName } from '../../../model/engine.ts';
import { Fault, type FaultCode } from '../../../model/fault.ts';
import type { Limits } from '../../../model/limits.ts';
import type { DeclaredGrants, RequestedGrants } from '../../grant-table.ts';
import type { WatchAction } from '../../room/model/watch.ts';
import type { SandboxState, WorkspaceMode } from '../../sandbox/model.ts';

/** The content of a carrel.yaml with defaults filled in and absolute paths. */
export interface Declaration {
  readonly name: string;
  /** Folders of the host by the id that sandboxes and the hub know them by. */
  readonly projects: Readonly<Record<string, string>>;
  /** Volume types, and names of the user's own volumes. */
  readonly volumes: readonly string[];
  readonly secrets: readonly string[];
  /** The rooms under `rooms`; sandboxes may name others. */
  readonly rooms: readonly string[];
  readonly watches: readonly DeclaredWatch[];
  /** In the order of the file. */
  readonly sandboxes: readonly DeclaredSandbox[];
}

export interface DeclaredSandbox extends DeclaredGrants {
  readonly name: string;
  readonly project: DeclaredProject | null;
  readonly mode: WorkspaceMode;
  readonly base: 'live' | 'frozen';
  readonly engine: EngineName;
  readonly runtime: RuntimeName | null;
  readonly image: string | null;
  /** Empty: the sandbox idles until it is stopped. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  readonly credentials: readonly string[];
  readonly services: readonly string[];
  /** Null: not declared. */
  readonly network: 'none' | readonly string[] | null;
  /** Only the declared ones; the installation has defaults for the others. */
  readonly limits: Partial<Limits>;
}

/** A watcher of a room. */
export interface DeclaredWatch {
  readonly room: string;
  readonly who: string;
  readonly action: WatchAction;
  readonly isForAll: boolean;
}

export interface DeclaredProject {
  readonly id: string;
  readonly path: string;
}

/** The path to a field of the content: keys and indexes from the top. */
export type FieldPath = readonly (string | number)[];

/** The observed state: what the requesting user has. */
export interface Existing {
  readonly sandboxes: readonly ExistingSandbox[];
  readonly volumes: readonly string[];
  readonly rooms: readonly string[];
  readonly watches: readonly ExistingWatch[];
  readonly secrets: readonly string[];
}

export interface ExistingWatch extends DeclaredWatch {
  /** The fleet that added it; null: none did. */
  readonly fleet: string | null;
}

export interface ExistingSandbox {
  readonly id: string;
  readonly name: string;
  readonly state: SandboxState;
  readonly labels: Readonly<Record<string, string>>;
  /** Network rules in force. */
  readonly allow: readonly string[];
}

/** The body of the API request that creates a sandbox as declared. */
export interface FleetRequest extends RequestedGrants {
  name: string;
  engine: EngineName;
  mode: WorkspaceMode;
  project?: string;
  base?: 'frozen';
  runtime?: RuntimeName;
  image?: string;
  command?: string[];
  env?: Record<string, string>;
  secrets?: string[];
  credentials?: string[];
  services?: string[];
  network?: 'none' | string[];
  limits?: Partial<Limits>;
  labels: Record<string, string>;
}

/** The body of the API request that adds a watcher as declared, or changes it. */
export interface FleetWatchRequest {
  who: string;
  fleet: string;
  all?: boolean;
  run?: string[];
  webhook?: string;
  secret?: string;
  wake?: { command: string[] };
}

/** A field whose declaration changed. Null: not declared. */
export interface Difference {
  readonly field: string;
  readonly before: string | null;
  readonly after: string | null;
}

export type PlanStep =
  | { readonly act: 'init-volumes'; readonly volumes: readonly string[] }
  | { readonly act: 'init-rooms'; readonly rooms: readonly string[] }
  | { readonly act: 'watch'; readonly room: string; readonly name: string; readonly request: FleetWatchRequest }
  | { readonly act: 'unwatch'; readonly room: string; readonly name: string }
  | { readonly act: 'create'; readonly name: string; readonly request: FleetRequest }
  | {
      readonly act: 'replace';
      readonly name: string;
      readonly id: string;
      readonly state: SandboxState;
      readonly differences: readonly Difference[];
      readonly request: FleetRequest;
    }
  | {
      /** Network rules change without a restart. */
      readonly act: 'network';
      readonly name: string;
      readonly allow: readonly string[];
      readonly deny: readonly string[];
    }
  | { readonly act: 'start'; readonly name: string; readonly state: SandboxState }
  | { readonly act: 'remove'; readonly name: string; readonly id: string; readonly state: SandboxState };

/** Why a declaration is refused. */
export interface Problem {
  readonly code: FaultCode;
  readonly place: FieldPath;
  readonly message: string;
  readonly hint: string | null;
}

export interface PlannedFleet {
  /** Removals are last, so that a failed one does not block other steps. */
  readonly steps: readonly PlanStep[];
  /** Names of sandboxes that are as declared. */
  readonly same: readonly string[];
  /** The part of `same` whose command exited with 0; it is not run again. */
  readonly completed: readonly string[];
  readonly problems: readonly Problem[];
}

/** What a rendered declaration depends on besides its content. */
export interface RenderContext {
  /** The owner of the volumes; part of their names. */
  readonly user: string;
  readonly volumePrefix: string;
  /** Part of the names under which the engine has images that were built here. */
  readonly installation: string;
  /** Defaults for limits that are not declared. */
  readonly limits: Limits;
}

const mostShown = 20;

/** A problem names its field by path; the command line, which has the file, turns the path into a line. */
export function problem(code: FaultCode, place: FieldPath, message: string, hint: string | null = null): Problem {
  return { code, place, message, hint };
}

/** One fault for all problems, with the code of the first. */
export function refusal(all: readonly Problem[]): Fault {
  const problems = [...new Map(all.map((one) => [problemText(one), one])).values()];
  const hints = [...new Set(problems.flatMap(({ hint }) => hint ?? []))].slice(0, mostShown);
  return new Fault(problems[0]!.code, problems.map(problemText).slice(0, mostShown).join('\n'), {
    ...(hints.length === 0 ? {} : { hint: hints.join('\n') }),
    data: { problems: problems.slice(0, mostShown) },
  });
}

function problemText({ place, message }: Problem): string {
  return place.length === 0 ? message : `${place.join('.')}: ${message}`;
}
