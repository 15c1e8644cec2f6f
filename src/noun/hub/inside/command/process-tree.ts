/**
 * Everything that a command started, found in /proc: its descendants, the members of their groups and sessions, and each process that
 * inherited the mark of the run in its environment. The mark also finds a process that was detached by `setsid` or by a double fork.
 */
import { readdirSync, readFileSync } from 'node:fs';

export const markName = 'CARREL_RUN';
const maxRounds = 50;

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** The value of the mark in its environment; null: it has none. */
  readonly mark: string | null;
}

/** `known`: processes that are known to belong to the tree. */
export function treeOf(all: readonly ProcessEntry[], known: readonly number[], mark: string): number[] {
  const tree = new Set(all.filter((one) => one.mark === mark || known.includes(one.pid)).map(({ pid }) => pid));
  const belongs = ({ parent, group, session }: ProcessEntry) => [parent, group, session].some((id) => tree.has(id));
  for (let size = -1; size !== tree.size; ) {
    size = tree.size;
    for (const one of all) if (belongs(one)) tree.add(one.pid);
  }
  return [...tree];
}

/** All processes, without zombies and without this process. */
export function processes(): ProcessEntry[] {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (entryOf(Number(name)) ?? []) : []));
}

function entryOf(pid: number): ProcessEntry | null {
  if (pid === process.pid) return null;
  const stat = textOf(`/proc/${pid}/stat`);
  // The command name is in parentheses and may itself hold spaces and parentheses.
  const [state, parent, group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 4);
  if (stat === '' || state === 'Z' || state === 'X') return null;
  const found = `\0${textOf(`/proc/${pid}/environ`)}`.match(/\0CARREL_RUN=([0-9a-f]+)/);
  const ids = { parent: Number(parent), group: Number(group), session: Number(session) };
  return { pid, ...ids, mark: found?.[1] ?? null };
}

/** Empty if the process has ended or belongs to another user. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** Returns the processes that got the signal. */
export function signalTree(known: readonly number[], mark: string, name: NodeJS.Signals): number[] {
  return treeOf(processes(), known, mark).filter((pid) => wasSent(pid, name));
}

/** Kills in rounds until no process is left, because a process may fork while the others are killed. */
export function killTree(known: readonly number[], mark: string): void {
  for (let round = 0; round < maxRounds && signalTree(known, mark, 'SIGKILL').length > 0; round++);
}

/** Kills commands of an earlier spoke that was killed: their output has no reader. */
export function killLeftovers(): void {
  const marked = processes().flatMap(({ mark }) => mark ?? []);
  for (const mark of new Set(marked)) killTree([], mark);
}

function wasSent(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
