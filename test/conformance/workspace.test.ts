// @takes 50 s
/** Working copies on the real kernel: overlays mounted in a namespace of the test's own, and whole copies. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { detachMount, mount } from '../../src/lib/sys/sys-mount.ts';
import { foldIndex } from '../../src/noun/workspace/change/overlay/fold-index.ts';
import type { WorkspacePlace } from '../../src/noun/workspace/workspace.ts';
import { isRealRoot } from '../harness/machine.ts';
import { treeAt } from './workspace/cases.ts';
import { liveBaseSuite } from './workspace/live.ts';
import { marksSuite } from './workspace/marks.ts';
import { plainCopy } from './workspace/oracle.ts';
import { type Workspace, type WorkspaceKindUnderTest, workspaceSuite } from './workspace.ts';

const marks = isRealRoot ? 'trusted' : 'user';
const disposals: (() => void)[] = [];
afterEach(() => {
  for (const dispose of disposals.splice(0).reverse()) dispose();
});

function scratchFolder(): string {
  const scratch = mkdtempSync(join(tmpdir(), 'carrel-workspace-'));
  disposals.push(() => execFileSync('rm', ['-rf', '--one-file-system', scratch]));
  for (const name of ['base', 'folder']) mkdirSync(join(scratch, name));
  return scratch;
}

function overlay(live: boolean): WorkspaceKindUnderTest['open'] {
  return (fill) => {
    const scratch = scratchFolder();
    const [base, folder, inside] = ['base', 'folder', 'inside'].map((name) => join(scratch, name)) as [
      string,
      string,
      string,
    ];
    fill(treeAt(base));
    for (const path of [join(folder, 'upper'), join(folder, 'work'), inside]) mkdirSync(path);
    const own = marks === 'user' ? 'userxattr' : 'index=on,metacopy=off,redirect_dir=off';
    const options = `lowerdir=${base},upperdir=${folder}/upper,workdir=${folder}/work,${own}`;
    const place: WorkspacePlace = { kind: 'overlay', project: base, base, live, marks, folder };
    const workspace: Workspace = {
      place,
      inside,
      scratch,
      mount: () => {
        foldIndex(place);
        mount('carrel-test', inside, 'overlay', 0, options);
      },
      unmount: () => void detachMount(inside),
    };
    workspace.mount();
    disposals.push(workspace.unmount);
    return workspace;
  };
}

function copy(): WorkspaceKindUnderTest['open'] {
  return (fill) => {
    const scratch = scratchFolder();
    const [base, folder] = [join(scratch, 'base'), join(scratch, 'folder')];
    fill(treeAt(base));
    plainCopy(base, join(folder, 'tree'));
    const place: WorkspacePlace = { kind: 'copy', project: base, base, live: false, marks, folder };
    return { place, inside: join(folder, 'tree'), scratch, mount: () => {}, unmount: () => {} };
  };
}

const live: WorkspaceKindUnderTest = {
  name: `an overlay on a live project (${marks} marks)`,
  keepsLinks: isRealRoot,
  open: overlay(true),
};
const others: readonly WorkspaceKindUnderTest[] = [
  { name: `an overlay on a copy (${marks} marks)`, keepsLinks: isRealRoot, open: overlay(false) },
  { name: 'a copy', keepsLinks: true, open: copy() },
];
const onlyLive = process.env.CARREL_TEST_WORKSPACES === 'live';

for (const kind of onlyLive ? [live] : [live, ...others]) workspaceSuite(kind);
liveBaseSuite(live);
marksSuite(live);
