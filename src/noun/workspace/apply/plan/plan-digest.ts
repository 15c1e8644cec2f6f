/**
 * The digest of a plan: its decisions, and the modes and contents of what it would make. An apply that expects a digest makes
 * exactly that, or nothing.
 */
import { createHash } from 'node:crypto';
import { Fault } from '../../../../model/fault.ts';
import { Reader } from '../../tree/reader.ts';
import type { ApplyPlan, ApplyStep } from '../apply.ts';

export interface DigestedPlan {
  /** The plan with the hash of each content, so that an apply refuses any other content. */
  readonly plan: ApplyPlan;
  readonly digest: string;
}

export function digested(plan: ApplyPlan): DigestedPlan {
  const reader = new Reader();
  try {
    const hash = createHash('sha256').update(JSON.stringify(plan.paths));
    const steps = plan.steps.map((step) => {
      const content = 'make' in step && 'source' in step.make ? reader.hash(step.make.source) : null;
      hash.update(JSON.stringify(described(step, content)));
      return content === null ? step : withHash(step, content);
    });
    return { plan: { ...plan, steps }, digest: hash.digest('hex') };
  } finally {
    reader.close();
  }
}

export function requireDigest(expected: string | undefined, digest: string): void {
  if (expected === undefined || expected === digest) return;
  throw new Fault('conflict', 'the changes are not those that were shown', { hint: 'Look at them again.' });
}

/** Leaves out the replaced entry: the paths of the plan have the decision about it. */
function described(step: ApplyStep, content: string | null): object {
  const { do: act, path } = step;
  if (step.do === 'link') return { act, path, target: step.target };
  if (step.do === 'chmod') return { act, path, mode: step.mode };
  return 'make' in step ? { act, path, mode: step.make.mode, content } : { act, path };
}

/** Leaves out `sparse:` hashes: a commit to a branch computes the hash of all bytes, which differs. */
function withHash(step: ApplyStep, sha256: string): ApplyStep {
  if (step.do !== 'file' || sha256.startsWith('sparse:')) return step;
  return { ...step, make: { ...step.make, sha256: step.make.sha256 ?? sha256 } };
}
