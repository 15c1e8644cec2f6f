/** Traces of sandboxes on the host. */
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

function commandLine(pid: string): string[] {
  return textOf(`/proc/${pid}/cmdline`).split('\0');
}

/** Empty: the file is gone meanwhile. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
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

/** Pids of daemons of this home, including those that are still starting. */
export function daemonsOf(home: string): number[] {
  const isOfHome = (pid: string) => textOf(`/proc/${pid}/environ`).split('\0').includes(`CARREL_HOME=${home}`);
  return allPids()
    .filter((pid) => commandLine(pid).some((arg) => /\/(program\/daemon|daemon\/main)\.js$/.test(arg)) && isOfHome(pid))
    .map(Number);
}

/** Control groups of any hierarchy named after a sandbox. */
export function groupsOf(id: string): string[] {
  const root = '/sys/fs/cgroup';
  const hierarchies = [root, ...list(root).map((name) => join(root, name))];
  const parents = hierarchies.flatMap((folder) =>
    list(folder)
      .filter((name) => name.startsWith('carrel-'))
      .map((name) => join(folder, name)),
  );
  return parents.map((parent) => join(parent, id)).filter((path) => existsSync(path));
}

/** Files below a folder in which others work: entries that vanish meanwhile are left out. */
export function filesBelow(folder: string): string[] {
  return list(folder).flatMap((name) => {
    const path = join(folder, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory()) return filesBelow(path);
    return stat?.isFile() ? [path] : [];
  });
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
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
