/**
 * Claims about limits, tried by exceeding them. The sandbox for the trial has small limits, and each script is bounded
 * in itself.
 */
import type { Limits } from '../../../../model/limits.ts';
import { type Claim, heldUnless, linesOf } from './claim.ts';

const MiB = 2 ** 20;

/** Small enough to reach at once, large enough for the other claims. */
export const trialLimits = { cpus: 1, memoryBytes: 128 * MiB, pids: 96 } satisfies Partial<Limits>;

const cpuSeconds = 0.4;

export const memory: Claim = {
  id: 'memory',
  limit: 'memoryBytes',
  script: `head -c "$1" /dev/zero | tail -c "$1" > /dev/null
echo $?`,
  args: ({ limits }) => [String(limits.swapBytes + 64 * MiB)],
  judge: (output, facts) =>
    heldUnless(
      [linesOf(output).at(-1) !== '137' && 'a process outgrew the limit'],
      `a process that outgrew ${facts.limits.memoryBytes / MiB} MiB was killed`,
    ),
};

/**
 * Runs two loops and measures what they used: at most the quota of the time that they took, plus one period at either
 * end. On a busy machine the loops get less in any case, so the claim also checks the quota that the kernel reports.
 */
export const cpu: Claim = {
  id: 'cpu',
  limit: 'cpus',
  script: `read began rest < /proc/uptime
timeout ${cpuSeconds} sh -c 'while :; do :; done' &
timeout ${cpuSeconds} sh -c 'while :; do :; done' &
wait
read ended rest < /proc/uptime
echo "$began $ended"
times`,
  judge: (output, { limits, cpuQuota }) => {
    const [took, used] = [secondsTaken(output), secondsOfChildren(output)];
    const most = limits.cpus * ((took ?? 0) + 0.2) + 0.05;
    const detail = `two loops used ${used?.toFixed(2)} s in ${took?.toFixed(2)} s with a limit of ${limits.cpus}`;
    return heldUnless(
      [
        (used === null || took === null) && 'it cannot be determined',
        (used ?? 0) > most && detail,
        cpuQuota !== limits.cpus && `the limit is ${limits.cpus}, the kernel has ${cpuQuota ?? 'none'}`,
      ],
      detail,
    );
  },
};

function secondsTaken(output: string): number | null {
  const [began, ended] = (linesOf(output)[0] ?? '').split(' ').map(Number);
  return began !== undefined && ended !== undefined && ended > began ? ended - began : null;
}

/** The second line that `times` prints: user and system time of the children of a shell. */
export function secondsOfChildren(output: string): number | null {
  const times = [...(linesOf(output).at(-1) ?? '').matchAll(/(\d+)m([\d.]+)s/g)];
  if (times.length !== 2) return null;
  return times.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
}

/**
 * A shell that cannot fork reports that and ends, or reports it and retries until its output is closed. Its children
 * end with the sandbox.
 */
export const pids: Claim = {
  id: 'pids',
  limit: 'pids',
  script: `sh -c 'i=0; while [ $i -lt "$1" ]; do sleep 60 > /dev/null 2>&1 & i=$((i + 1)); done; echo all' sh "$1" 2>&1 |
  grep -im1 -e fork -e all`,
  args: ({ limits }) => [String(limits.pids + 8)],
  judge: (output, facts) =>
    heldUnless(
      [!/fork/i.test(output) && 'more could be started'],
      `no more than ${facts.limits.pids} could be started`,
    ),
};
