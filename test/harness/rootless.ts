/**
 * An ordinary account for tests that run as root: a uid without privileges that /etc/subuid lends ids to. Nothing of the
 * host changes: the account exists in a mount namespace of its own, and a delegated control group is made for it.
 */
import { execFileSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Account } from './installation.ts';

const uid = 54_321;
const cgroups = '/sys/fs/cgroup';

export interface RootlessAccount extends Account {
  dispose(): void;
}

export function createRootlessAccount(delegate = true): RootlessAccount {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-account-'));
  const files = accountFiles(folder);
  const group = delegate ? delegateGroup() : null;
  const script = join(folder, 'enter');
  writeFileSync(script, enterScript(files, group), { mode: 0o755 });
  execFileSync('chmod', ['755', folder]);
  return {
    wrap: (argv) => ['unshare', '--mount', '--propagation', 'private', '--', script, ...argv],
    prepareHome: (home) => chownSync(home, uid, uid),
    dispose: () => {
      if (group) removeGroup(group);
      rmSync(folder, { recursive: true });
    },
  };
}

function accountFiles(folder: string): [string, string][] {
  const line = {
    passwd: `carrel-test:x:${uid}:${uid}::/nonexistent:/bin/sh`,
    group: `carrel-test:x:${uid}:`,
    subuid: `carrel-test:400000:65536`,
    subgid: `carrel-test:400000:65536`,
  };
  return Object.entries(line).map(([name, text]) => {
    const original = existsSync(`/etc/${name}`) ? readFileSync(`/etc/${name}`, 'utf8') : '';
    const path = join(folder, name);
    writeFileSync(path, `${original}${text}\n`, { mode: 0o644 });
    return [path, `/etc/${name}`];
  });
}

/** A fixed script of ours, run by its path: binds the account's files, enters its groups, drops every privilege. */
function enterScript(files: [string, string][], group: string | null): string {
  const binds = files.map(([from, to]) => `[ -e ${to} ] || : > ${to}\nmount --bind ${from} ${to}`);
  const joins = group ? hierarchies().map((name) => `echo $$ > ${join(cgroups, name, group, 'cgroup.procs')}`) : [];
  const drop = `exec setpriv --reuid=${uid} --regid=${uid} --clear-groups -- "$@"`;
  return ['#!/bin/sh', 'set -e', ...binds, ...joins, drop, ''].join('\n');
}

function hierarchies(): string[] {
  if (existsSync(join(cgroups, 'cgroup.controllers'))) return [''];
  return readdirSync(cgroups).filter((name) => existsSync(join(cgroups, name, 'cgroup.procs')) && name !== 'unified');
}

function delegateGroup(): string {
  const group = `carrel-delegated-${process.pid}`;
  for (const name of hierarchies()) {
    const folder = join(cgroups, name, group);
    mkdirSync(folder);
    if (name === 'cpuset')
      for (const file of ['cpuset.cpus', 'cpuset.mems'])
        writeFileSync(join(folder, file), readFileSync(join(cgroups, name, file)));
    for (const path of [folder, ...readdirSync(folder).map((file) => join(folder, file))]) chownSync(path, uid, uid);
  }
  return group;
}

function removeGroup(group: string): void {
  for (const name of hierarchies()) rmdirSync(join(cgroups, name, group));
}
