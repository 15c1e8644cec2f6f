/** Traces of a sandbox on the host. */
import { readdirSync, readFileSync } from 'node:fs';

/**
 * Processes and mounts of a sandbox. Its keeper and runtime have its id in their arguments, every process inside has it
 * in the environment.
 */
export function tracesOf(id: string): string[] {
  return [...processTraces(id), ...mountTraces(id, read('/proc/self/mountinfo'))];
}

function processTraces(id: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => read(`/proc/${pid}/cmdline`).includes(id) || read(`/proc/${pid}/environ`).includes(id))
    .map((pid) => `process ${pid}`);
}

export function mountTraces(id: string, mountInfo: string): string[] {
  const lines = mountInfo.split('\n').filter((line) => line.includes(id));
  return lines.map((line) => `mount on ${line.split(' ')[4]}`);
}

/** Processes end meanwhile, and those of other users cannot be read, ignoring. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
