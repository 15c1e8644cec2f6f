/** What a hostile agent prepares for the reader of its tree. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keepBases } from '../../../src/noun/workspace/change/base/base.ts';
import { listChanges } from '../../../src/noun/workspace/change/changes.ts';
import { copyContent, readContent } from '../../../src/noun/workspace/tree/content.ts';
import type { Workspace, WorkspaceKindUnderTest } from '../workspace.ts';

const swaps = 200;
/** More than the 1024 descriptors that a process usually has; with long names more bytes of paths than are listed. */
const levels = 1100;

export function attackCases(kind: WorkspaceKindUnderTest): void {
  describe('is not misled', () => {
    it('by links to files that only the daemon may read', () => {
      const { place, inside } = kind.open((base) => {
        writeFileSync(base('file'), 'x');
        mkdirSync(base('folder'));
        writeFileSync(base('folder/passwd'), 'x');
      });
      execFileSync('rm', ['-r', join(inside, 'file'), join(inside, 'folder')]);
      symlinkSync('/etc/shadow', join(inside, 'file'));
      symlinkSync('/etc', join(inside, 'folder'));
      const { changes } = listChanges(place);
      expect(changes).toMatchObject([
        { path: 'file', after: { type: 'link', target: '/etc/shadow' }, afterContent: null },
        { path: 'folder', after: { type: 'link', target: '/etc' } },
        { path: 'folder/passwd', after: null },
      ]);
      const root = join(place.folder, place.kind === 'copy' ? 'tree' : 'upper');
      expect(readContent({ at: 'tree', root }, 'file', 1_000_000)).toBeNull();
      expect(readContent({ at: 'tree', root }, 'folder/passwd', 1_000_000)).toBeNull();
    });

    it('by FIFOs and sockets, which it neither opens nor waits for', () => {
      const { place, inside } = kind.open((base) => writeFileSync(base('file'), 'x'));
      execFileSync('rm', [join(inside, 'file')]);
      for (const name of ['file', 'new']) execFileSync('mkfifo', [join(inside, name)]);
      const { changes } = listChanges(place);
      expect(changes.map(({ path, after }) => [path, after?.type])).toEqual([
        ['file', 'fifo'],
        ['new', 'fifo'],
      ]);
      const root = join(place.folder, place.kind === 'copy' ? 'tree' : 'upper');
      expect(readContent({ at: 'tree', root }, 'file', 1_000_000)).toBeNull();
      expect(copyContent({ at: 'tree', root }, 'file', 1)).toBeNull();
    });

    it('by a folder that becomes a link while it is read', { timeout: 120_000 }, async () => {
      const workspace = kind.open((base) => {
        mkdirSync(base('folder/sub'), { recursive: true });
        writeFileSync(base('folder/sub/name'), 'before');
      });
      const outside = mkdtempSync(join(workspace.scratch, 'outside-'));
      mkdirSync(join(outside, 'sub'));
      for (const name of ['name', 'secret']) writeFileSync(join(outside, 'sub', name), 'secret');
      await whileSwapping(workspace, outside, () => readsNothingOf(workspace));
    });

    it('by a tree deeper than there are descriptors, with paths longer than the kernel takes', () => {
      const { place, inside } = kind.open((base) => writeFileSync(base('file'), 'x'));
      dig(inside, levels, 'dddd');
      const { changes } = listChanges(place);
      // Each level holds the next and a file.
      expect(changes.length).toBe(2 * levels);
      expect(Math.max(...changes.map(({ path }) => path.length))).toBe(5 * levels + 1);
      const deepest = changes.find(({ path }) => path.length === 5 * levels + 1)!;
      expect(deepest.path.slice(-7)).toBe('/dddd/f');
      expect(readContent(deepest.afterContent!, deepest.path, 100)?.toString()).toBe('x');
      expect(readdirSync('/proc/self/fd').length).toBeLessThan(200);
    });

    it('by more paths than can be listed: the call fails with exhausted', () => {
      const { place, inside } = kind.open((base) => writeFileSync(base('file'), 'x'));
      dig(inside, levels, 'n'.repeat(255));
      expect(() => listChanges(place)).toThrow(expect.objectContaining({ code: 'exhausted' }));
    });
  });
}

/** A chain of folders, each with a file beside the next, made by a program that can: Node knows no openat. */
function dig(root: string, levels: number, name: string): void {
  const program = `
import os, sys
os.chdir(sys.argv[1])
for _ in range(int(sys.argv[2])):
    os.mkdir(sys.argv[3]); os.chdir(sys.argv[3])
    with open('f', 'w') as file: file.write('x')
`;
  execFileSync('/usr/bin/python3', ['-c', program, root, `${levels}`, name]);
}

async function whileSwapping({ inside }: Workspace, outside: string, read: () => void): Promise<void> {
  const program = `
import os, sys
os.chdir(sys.argv[1])
os.symlink(sys.argv[2], 'planted')
os.makedirs('folder/sub', exist_ok=True)
open('folder/sub/name', 'w').write('agent')
os.mkdir('own'); os.mkdir('own/sub'); open('own/sub/name', 'w').write('agent')
print('ready', flush=True)
while True:
    os.rename('own', 'x'); os.rename('planted', 'own'); os.rename('own', 'planted'); os.rename('x', 'own')
    os.rename('own/sub', 'own/y'); os.symlink(sys.argv[2] + '/sub', 'own/sub'); os.unlink('own/sub'); os.rename('own/y', 'own/sub')
`;
  const child = spawn('/usr/bin/python3', ['-c', program, inside, outside], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await once(child.stdout, 'data');
    for (let count = 0; count < swaps; count += 1) read();
    expect(child.exitCode).toBeNull();
  } finally {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}

function readsNothingOf({ place }: Workspace): void {
  const { changes } = listChanges(place);
  keepBases(place);
  for (const { path, after, afterContent } of changes) {
    expect(path).not.toContain('secret');
    if (after?.type !== 'file' || afterContent === null) continue;
    expect([undefined, 'agent']).toContain(readContent(afterContent, path, 100)?.toString());
  }
  expect(readFileSync(join(place.folder, 'base.log'), { encoding: 'utf8', flag: 'a+' })).not.toContain('secret');
}
