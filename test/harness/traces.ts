/** What sandboxes leave to see on the host. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

function commandLine(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

function allPids(): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
}

/** Pids of programs of that name with `text` in their arguments. */
export function processesMentioning(text: string, program: string): number[] {
  return allPids()
    .filter((pid) => {
      const [file = '', ...args] = commandLine(pid);
      return basename(file) === program && args.some((arg) => arg.includes(text));
    })
    .map(Number);
}

export function childrenOf(parent: number): number[] {
  return allPids()
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/status`, 'utf8').includes(`\nPPid:\t${parent}\n`);
      } catch {
        return false;
      }
    })
    .map(Number);
}
