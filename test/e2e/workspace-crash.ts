/** An installation with a project, and a daemon that dies at a given place. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { Installation, until } from '../harness/installation.ts';
import { isRealRoot } from '../harness/machine.ts';
import { numbers, Project } from '../harness/project.ts';
import { createRootlessAccount, type RootlessAccount } from '../harness/rootless.ts';

let account: RootlessAccount | null;
export let carrel: Installation;
export let project: Project;

export function open(way: string): void {
  account = way === 'rootless' && isRealRoot ? createRootlessAccount() : null;
  carrel = new Installation(account);
  project = new Project(carrel.folder('project'), {
    'a.txt': numbers(1, 20),
    'keep.txt': 'kept\n',
    'mode.txt': 'mode\n',
    'src/main.ts': 'export {};\n',
  });
  project.folder('src/empty');
}

export async function close(): Promise<void> {
  await carrel.dispose();
  account?.dispose();
}

/** Runs a command during which the daemon dies at `point`, and expects the command to fail. */
export async function crashDuring(point: string, ...args: string[]): Promise<void> {
  const { exitCode } = await carrel.crashDuring(point, ...args);
  expect(exitCode).not.toBe(0);
}

/** Appends a line to a file in its home as long as it runs. */
export const counting = ['sh', '-c', 'while :; do echo >> ~/count; sleep 0.02; done'];

export const folderOf = (id: string) => join(carrel.home, 'sandboxes', id);

export async function goesOn(id: string): Promise<void> {
  const count = () => statSync(join(folderOf(id), 'state/home/upper/count'), { throwIfNoEntry: false })?.size ?? 0;
  const from = count();
  await until(() => count() > from, 'the sandbox to go on');
}
