/** Ends orphans: agents of an earlier agent API, which was killed and did not end them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRecord } from './agent-link.ts';
import { startTime } from './process-state.ts';

/** A variable of every process of an agent, with the folder of its session. */
export const sessionMark = 'CARREL_AGENT_SESSION';

export async function endOrphans(folder: string): Promise<void> {
  const mark = `${sessionMark}=${folder}/`;
  for (const pid of numbers('/proc')) if (pid !== process.pid && hasMark(pid, mark)) kill(pid);
  for (const name of readdirSync(folder)) {
    const { process: known } = await readRecord(join(folder, name));
    // Kills the group, for processes that have overwritten their environment.
    if (known && startTime(known.pid) === known.startTime) kill(-known.pid);
  }
}

function numbers(folder: string): number[] {
  return readdirSync(folder)
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function hasMark(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .some((one) => one.startsWith(mark));
  } catch {
    return false;
  }
}

function kill(target: number): void {
  try {
    process.kill(target, 'SIGKILL');
  } catch {
    // It has ended, ignoring.
  }
}
