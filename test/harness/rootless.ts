/**
 * An ordinary account for tests that run as root: a uid without privileges that /etc/subuid lends ids to. Nothing of the
 * host changes: the account exists in a mount namespace of its own.
 */
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Account } from './installation.ts';

export const rootlessUid = 54_321;

export interface RootlessAccount extends Account {
  dispose(): void;
}

/** `lent`: how many ids /etc/subuid lends it; `groups`: ids of its supplementary groups. */
export function createRootlessAccount(lent = 65_536, groups: readonly number[] = []): RootlessAccount {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-account-'));
  const files = accountFiles(folder, lent);
  const script = join(folder, 'enter');
  writeFileSync(script, enterScript(files, groups), { mode: 0o755 });
  execFileSync('chmod', ['755', folder]);
  return {
    wrap: (argv) => ['unshare', '--mount', '--propagation', 'private', '--', script, ...argv],
    isPlain: true,
    prepareHome: (home) => chownSync(home, rootlessUid, rootlessUid),
    dispose: () => {
      rmSync(folder, { recursive: true });
    },
  };
}

function accountFiles(folder: string, lent: number): [string, string][] {
  const line = {
    passwd: `carrel-test:x:${rootlessUid}:${rootlessUid}::/nonexistent:/bin/sh`,
    group: `carrel-test:x:${rootlessUid}:`,
    subuid: lent > 0 ? `carrel-test:400000:${lent}` : '',
    subgid: lent > 0 ? `carrel-test:400000:${lent}` : '',
  };
  return Object.entries(line).map(([name, text]) => {
    const original = existsSync(`/etc/${name}`) ? readFileSync(`/etc/${name}`, 'utf8') : '';
    const path = join(folder, name);
    writeFileSync(path, `${original}${text}\n`, { mode: 0o644 });
    return [path, `/etc/${name}`];
  });
}

/** The script that binds the account's files and drops every privilege. */
function enterScript(files: [string, string][], groups: readonly number[]): string {
  const binds = files.map(([from, to]) => `[ -e ${to} ] || : > ${to}\nmount --bind ${from} ${to}`);
  const option = groups.length > 0 ? `--groups=${groups.join(',')}` : '--clear-groups';
  const drop = `exec setpriv --reuid=${rootlessUid} --regid=${rootlessUid} ${option} -- "$@"`;
  return ['#!/bin/sh', 'set -e', ...binds, drop, ''].join('\n');
}
