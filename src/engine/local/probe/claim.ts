/**
 * The claims of SECURITY.md that can be tried from inside a sandbox. A claim is a fixed script for the sandbox's `sh` and
 * a judge of what it said; the judge is pure. Who starts the sandbox and runs the scripts is in the daemon.
 */
import type { Limits } from '../../../model/limits.ts';
import type { ProbeRow } from '../../engine.ts';
import { failure, ok, warning } from '../../probe-row.ts';

/** What the judges know of the outside. */
export interface Facts {
  /** Our own namespaces: `pid` → `pid:[4026531836]`. */
  readonly namespaces: Readonly<Record<string, string>>;
  /** Names of the variables that the sandbox was given. */
  readonly environment: readonly string[];
  readonly limits: Limits;
  /** Limits that were asked for and granted. */
  readonly enforced: readonly (keyof Limits)[];
  /** A folder of the host that must not exist inside. */
  readonly home: string;
  /** Device numbers of the host's own. */
  readonly devices: Readonly<Record<'/tmp' | '/dev/shm', number>>;
  readonly uidMap: string;
  readonly passwd: string;
  readonly arch: NodeJS.Architecture;
  /** Processors that the kernel lets the sandbox use; null where it sets no limit. */
  readonly cpuQuota: number | null;
}

export type Verdict = Omit<ProbeRow, 'name'>;

export interface Claim {
  readonly id: string;
  /** The limit it exceeds; not tried where that is not enforced. */
  readonly limit?: keyof Limits;
  /** Exits with 0 unless it could not be tried. */
  readonly script: string;
  /** `$1` and following. */
  readonly args?: (facts: Facts) => readonly string[];
  readonly judge: (said: string, facts: Facts) => Verdict;
}

const hint =
  'Do not run code here that you do not trust. Update the runtime and the kernel; report it as SECURITY.md says.';

export function held(detail: string): Verdict {
  return withoutName(ok('', detail));
}

export function broken(detail: string): Verdict {
  return withoutName(failure('', detail, hint));
}

/** Nothing speaks against it, but it could not be tried, or does not hold here for a known reason. */
export function doubtful(detail: string, remedy: string): Verdict {
  return withoutName(warning('', detail, remedy));
}

function withoutName({ level, detail, hint }: ProbeRow): Verdict {
  return { level, detail, hint };
}

/** The first objection, or that all is well. */
export function heldUnless(objections: readonly (string | false | null | undefined)[], detail: string): Verdict {
  const found = objections.filter((objection) => typeof objection === 'string');
  return found.length === 0 ? held(detail) : broken(found.join('; '));
}

/** Scripts put a line of two dashes between the parts of what they say. */
export function partsOf(said: string): string[] {
  return said.split(/^--\n/m);
}

export function linesOf(text: string | undefined): string[] {
  return (text ?? '').split('\n').filter((line) => line !== '');
}

/** An objection when a namespace is the one we live in, or cannot be told. */
export function sharedNamespace(link: string | undefined, facts: Facts): string | null {
  const [, kind = ''] = /^(\w+):\[\d+\]$/.exec(link?.trim() ?? '') ?? [];
  if (kind === '') return 'its namespace cannot be told';
  return facts.namespaces[kind] === link?.trim() ? `the ${kind} namespace is the host's` : null;
}

export function someOf(things: readonly string[]): string {
  return things.length > 5 ? `${things.slice(0, 5).join(' ')} and ${things.length - 5} more` : things.join(' ');
}
