/**
 * A fleet: the projects, sandboxes, volumes and secrets that one `carrel.yaml` declares.
 *
 *   content ── declare ──► Declaration ── plan(declared, existing) ──► steps ── carried out through the API, then planned anew
 *                               └─── compose ──► docker-compose.yml
 *
 * All of it is pure. Whoever has the file reads it: what comes here is plain data, and what is wrong with it is told by its
 * place in that data. Nothing is remembered between two plans, so whatever a crash, another `up` or a person left
 * behind is simply what exists. When no step is left the machine is as declared.
 *
 * Promises:
 * - A sandbox belongs to a fleet only if the fleet created it: its label says so, and names the sandbox, so that a fork,
 *   which inherits labels, belongs to nobody. What is not the fleet's is never changed; a name that is taken is a problem.
 * - Sandboxes that are as declared are left alone. One that was declared otherwise is replaced, one that is no longer
 *   declared is removed; neither with changes that nobody took over.
 * - Volumes are made and never removed. Secrets are named, never given a value.
 * - What cannot be had is told before anything is done.
 */
import type { FaultCode } from '../model/fault.ts';
import type { Limits } from '../model/limits.ts';
import type { EngineName, RuntimeName, SandboxState, WorkspaceMode } from '../model/sandbox.ts';
import type { VolumeRequest } from '../model/volume.ts';

/** Everything resolved: defaults are filled in, paths are absolute. */
export interface Declaration {
  readonly name: string;
  /** Folders of the host by the id that sandboxes and the hub know them by. */
  readonly projects: Readonly<Record<string, string>>;
  /** Types, and names of the user's own. */
  readonly volumes: readonly string[];
  readonly secrets: readonly string[];
  /** In the order of the file. */
  readonly sandboxes: readonly DeclaredSandbox[];
}

export interface DeclaredSandbox {
  readonly name: string;
  readonly project: DeclaredProject | null;
  readonly mode: WorkspaceMode;
  readonly base: 'live' | 'frozen';
  readonly engine: EngineName;
  readonly runtime: RuntimeName | null;
  readonly image: string | null;
  /** Empty: it idles until stopped. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  readonly credentials: readonly string[];
  readonly services: readonly string[];
  readonly volumes: readonly VolumeRequest[];
  /** Rules, or `none`; null: nothing is said about it. */
  readonly network: 'none' | readonly string[] | null;
  /** Those that were named; the rest is up to the installation. */
  readonly limits: Partial<Limits>;
}

export interface DeclaredProject {
  readonly id: string;
  readonly path: string;
}

/** Where in the content something stands: keys and indexes from its top. */
export type Place = readonly (string | number)[];

/** What there is of whoever asks. */
export interface Existing {
  readonly sandboxes: readonly ExistingSandbox[];
  readonly volumes: readonly string[];
  readonly secrets: readonly string[];
}

export interface ExistingSandbox {
  readonly id: string;
  readonly name: string;
  readonly state: SandboxState;
  readonly labels: Readonly<Record<string, string>>;
  /** Rules of what it can reach. */
  readonly allow: readonly string[];
}

/** What the API is asked for to have a sandbox as declared. */
export interface FleetRequest {
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
  volumes?: { volume: string; target: string; readonly: boolean }[];
  limits?: Partial<Limits>;
  labels: Record<string, string>;
}

/** One field that was declared otherwise. Null: it was not, or is not, declared at all. */
export interface Difference {
  readonly field: string;
  readonly before: string | null;
  readonly after: string | null;
}

export type Step =
  | { readonly act: 'init-volumes'; readonly volumes: readonly string[] }
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
      /** Changed in place, at once. */
      readonly act: 'network';
      readonly name: string;
      readonly allow: readonly string[];
      readonly deny: readonly string[];
    }
  | { readonly act: 'start'; readonly name: string; readonly state: SandboxState }
  | { readonly act: 'remove'; readonly name: string; readonly id: string; readonly state: SandboxState };

/** Why the declaration cannot be had. */
export interface Problem {
  readonly code: FaultCode;
  readonly place: Place;
  readonly message: string;
  readonly hint: string | null;
}

export interface Plan {
  /** Removals come last, so that one that fails keeps nothing else from being done. */
  readonly steps: readonly Step[];
  /** Names of sandboxes that are as declared. */
  readonly same: readonly string[];
  /** Of those, the ones whose command has ended well, and is not run again. */
  readonly completed: readonly string[];
  readonly problems: readonly Problem[];
}
