/** A base and a working copy beside it, as plain folders, and what differs between them. */

import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Changes } from '../../src/noun/workspace/change/change.ts';
import { listChanges } from '../../src/noun/workspace/change/changes.ts';

export type Files = Readonly<Record<string, string | Buffer>>;

export interface WorkingCopy extends Changes {
  readonly base: string;
  readonly tree: string;
}

/** Makes a working copy in a new folder below the root; `run` does what an agent would do. */
export function workingCopy(root: string, files: Files, run: (tree: string) => void): WorkingCopy {
  const folder = mkdtempSync(join(root, 'workspace-'));
  const [base, tree] = [join(folder, 'base'), join(folder, 'tree')];
  mkdirSync(base);
  put(base, files);
  cpSync(base, tree, { recursive: true, verbatimSymlinks: true });
  run(tree);
  return { base, tree, ...listChanges({ kind: 'copy', project: base, base, live: false, marks: 'user', folder }) };
}

export function put(tree: string, files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, name)), { recursive: true });
    writeFileSync(join(tree, name), content);
  }
}
