/**
 * The claims of SECURITY.md that can be tried from inside a sandbox. A claim is a fixed script for the sandbox's `sh`
 * and a pure function that judges its output. The daemon starts the sandbox; `run.ts` runs the scripts.
 */
import type { Limits } from '../../../../model/limits.ts';
import type { ProbeRow } from '../../engine.ts';
import { failure, ok, warning } from '../../probe-row.ts';

/** Facts about the host and the sandbox that the judging functions compare with the output. */
export interface ClaimFacts {
  /** The daemon's namespaces: `pid` → `pid:[4026531836]`. */
  readonly namespaces: Readonly<Record<string, string>>;
  /** Names of the variables that the sandbox has. */
  readonly environment: readonly string[];
  readonly limits: Limits;
  /** Limits of the sandbox that the engine enforces. */
  readonly enforced: readonly (keyof Limits)[];
  /** A folder of the host that must not exist inside. */
  readonly home: string;
  /** Device numbers of the host's folders. */
  readonly devices: Readonly<Record<'/tmp' | '/dev/shm', number>>;
  readonly uidMap: string;
  readonly passwd: string;
  readonly arch: NodeJS.Architecture;
  /** Processors that the kernel lets the sandbox use; null: it sets no limit. */
  readonly cpuQuota: number | null;
}

export type ClaimVerdict = Omit<ProbeRow, 'name'>;

export interface Claim {
  readonly id: string;
  /** The limit that the script exceeds. The claim is not tried if that limit is not enforced. */
  readonly limit?: keyof Limits;
  /** Exits with 0 unless the trial was impossible. */
  readonly script: string;
  /** The script's `$1` and following. */
  readonly args?: (facts: ClaimFacts) => readonly string[];
  readonly judge: (output: string, facts: ClaimFacts) => ClaimVerdict;
}

const hint =
  'Do not run code here that you do not trust. Update the runtime and the kernel; report it as SECURITY.md says.';

export function held(detail: string): ClaimVerdict {
  return withoutName(ok('', detail));
}

export function broken(detail: string): ClaimVerdict {
  return withoutName(failure('', detail, hint));
}

/** A claim that is not refuted: it could not be tried, or does not hold here for a known reason. */
export function unproved(detail: string, remedy: string): ClaimVerdict {
  return withoutName(warning('', detail, remedy));
}

function withoutName({ level, detail, hint }: ProbeRow): ClaimVerdict {
  return { level, detail, hint };
}

/** Broken if there is an objection, with all objections as the reason; otherwise held. */
export function heldUnless(objections: readonly (string | false | null | undefined)[], detail: string): ClaimVerdict {
  const found = objections.filter((objection) => typeof objection === 'string');
  return found.length === 0 ? held(detail) : broken(found.join('; '));
}

/** Scripts separate the parts of their output by a line of two dashes. */
export function partsOf(output: string): string[] {
  return output.split(/^--\n/m);
}

export function linesOf(text: string | undefined): string[] {
  return (text ?? '').split('\n').filter((line) => line !== '');
}

/** An objection if a namespace is the daemon's own or cannot be read; otherwise null. */
export function sharedNamespace(link: string | undefined, facts: ClaimFacts): string | null {
  const [, kind = ''] = /^(\w+):\[\d+\]$/.exec(link?.trim() ?? '') ?? [];
  if (kind === '') return 'its namespace cannot be read';
  return facts.namespaces[kind] === link?.trim() ? `the ${kind} namespace is the host's` : null;
}

export function someOf(things: readonly string[]): string {
  return things.length > 5 ? `${things.slice(0, 5).join(' ')} and ${things.length - 5} more` : things.join(' ');
}
