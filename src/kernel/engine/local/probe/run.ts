/** Runs the scripts of claims in a sandbox that was made for them. */
import type { Readable } from 'node:stream';
import { firstBytes } from '../../../../lib/process/collect.ts';
import { asFault } from '../../../../model/fault.ts';
import type { Engine, Handle, ProbeRow } from '../../engine.ts';
import { failure } from '../../probe-row.ts';
import { type Claim, type ClaimFacts, unproved } from './claim.ts';
import { parallelClaims, serialClaims } from './claims.ts';

export interface ScriptOutput {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script with arguments inside, to its end. */
export type RunInside = (script: string, args?: readonly string[]) => Promise<ScriptOutput>;

/** The time-out of a script. None takes a second on an idle machine. */
const trialMs = 300_000;
const lanes = 4;

export function insideOf(engine: Engine, id: string, handle: Handle): RunInside {
  return async (script, args = []) => {
    const command = ['sh', '-c', script, 'sh', ...args];
    const process = await engine.exec(id, handle, { command, env: {}, cwd: '/', stdin: false, terminal: null });
    process.stdin.end();
    // The process may have ended just now, ignoring.
    const timer = setTimeout(() => void process.signal('SIGKILL').catch(() => {}), trialMs);
    try {
      const [stdout, stderr, { exitCode }] = await Promise.all([
        textOf(process.stdout),
        textOf(process.stderr),
        process.exited,
      ]);
      return { exitCode, stdout, stderr };
    } finally {
      clearTimeout(timer);
    }
  };
}

const maxOutputBytes = 1024 * 1024;

async function textOf(stream: Readable): Promise<string> {
  return (await firstBytes(stream, maxOutputBytes)).toString('utf8');
}

/** Tries the claims that do not disturb each other, several at a time. */
export async function tryParallel(inside: RunInside, facts: ClaimFacts): Promise<ProbeRow[]> {
  const waiting = [...parallelClaims];
  const rows: ProbeRow[] = [];
  const lane = async () => {
    for (let claim = waiting.shift(); claim; claim = waiting.shift()) rows.push(await tryClaim(claim, inside, facts));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return rows;
}

/** Tries the claims that exhaust a resource, one after another. No process can be started inside afterwards. */
export async function trySerial(inside: RunInside, facts: ClaimFacts): Promise<ProbeRow[]> {
  const rows: ProbeRow[] = [];
  for (const claim of serialClaims) rows.push(await tryClaim(claim, inside, facts));
  return rows;
}

export async function tryClaim(claim: Claim, inside: RunInside, facts: ClaimFacts): Promise<ProbeRow> {
  const name = claim.id;
  if (claim.limit && !facts.enforced.includes(claim.limit)) {
    return { name, ...unproved('advisory: this machine does not enforce it', 'See the hint of cgroups.') };
  }
  try {
    const { exitCode, stdout, stderr } = await inside(claim.script, claim.args?.(facts));
    if (exitCode === 0) return { name, ...claim.judge(stdout, facts) };
    return notProved(name, stderr.trim().split('\n').at(-1) || `the trial ended with ${exitCode}`);
  } catch (error) {
    return notProved(name, asFault(error).message);
  }
}

export function notProved(name: string, reason: string): ProbeRow {
  return failure(
    name,
    `not proved: ${reason}`,
    'Fix the problems that the rows above show, then run carrel doctor again.',
  );
}
