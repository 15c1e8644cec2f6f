/** The marks that the kernel leaves on what an agent changed: only those of the kernel itself are believed. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listChanges } from '../../../src/noun/workspace/change/changes.ts';
import type { Workspace, WorkspaceKindUnderTest } from '../workspace.ts';

export function marksSuite(kind: WorkspaceKindUnderTest): void {
  describe(`${kind.name} reads the kernel's marks`, () => {
    const open = () =>
      kind.open((base) => {
        mkdirSync(base('folder'));
        for (const name of ['file', 'folder/file']) writeFileSync(base(name), 'x');
      });
    const list = ({ place }: Workspace) => listChanges(place).changes.map(({ path }) => path);

    it('and no others, which an agent can make', () => {
      const workspace = open();
      const { folder, marks } = workspace.place;
      for (const name of ['folder', 'new']) mkdirSync(join(folder, 'upper', name));
      const forged = marks === 'trusted' ? 'user.overlay.opaque' : 'user.other.opaque';
      for (const name of ['folder', 'new']) setMark(join(folder, 'upper', name), forged, 'y');
      expect(list(workspace)).toEqual(['new']);
      setMark(join(folder, 'upper/folder'), `${marks}.overlay.opaque`, 'y');
      expect(list(workspace)).toEqual(['folder/file', 'new']);
    });

    it.each(['file', 'folder'])('and refuses those on a %s that it does not understand', (name) => {
      const workspace = open();
      const { folder, marks } = workspace.place;
      chmodSync(join(workspace.inside, name), 0o711);
      expect(list(workspace)).toEqual([name]);
      setMark(join(folder, 'upper', name), `${marks}.overlay.${name === 'file' ? 'metacopy' : 'redirect'}`, '');
      expect(() => list(workspace)).toThrow(expect.objectContaining({ code: 'corrupt' }));
    });
  });
}

function setMark(path: string, name: string, value: string): void {
  const program = 'import os, sys; os.setxattr(sys.argv[1], sys.argv[2], sys.argv[3].encode())';
  execFileSync('/usr/bin/python3', ['-c', program, path, name, value]);
}
