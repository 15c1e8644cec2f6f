import { describe, expect, it } from 'vitest';
import type { Entry } from '../../model/change.ts';
import type { ContentSource } from '../../tree/reader.ts';
import type { ApplyStep } from '../apply.ts';
import type { DiskState, PathState, PlannedProject } from './planned-project.ts';
import { inOrder, stepsOf } from './steps-of.ts';

const bytes = (text: string): ContentSource => ({ from: 'bytes', bytes: Buffer.from(text) });
const entry = (type: Entry['type'], mode: number, target: string | null = null): Entry => ({
  ...{ type, mode, target },
  sizeBytes: 0,
});

let inode = 0;
/** An entry of the project with that many hard links. */
function onDisk(type: Entry['type'], mode: number, names = 1, target: string | null = null): DiskState {
  inode += 1;
  const stamp = { ino: `${inode}`, type, mode, sizeBytes: 0, mtimeNs: '0', uid: 0, gid: 0, target };
  const source = type === 'file' ? bytes('project') : null;
  return { entry: entry(type, type === 'link' ? 0 : mode, target), source, from: null, stamp, identity: null, names };
}

const planned = (what: Entry, source: ContentSource | null = null): PathState => ({ entry: what, source, from: 'ada' });

function steps(disk: Record<string, DiskState>, plan: Record<string, PathState | null>): ApplyStep[] {
  const project = { planned: new Map(Object.entries(plan)), onDisk: (path: string) => disk[path] ?? null };
  return stepsOf(project as unknown as PlannedProject);
}

const shown = (all: readonly ApplyStep[]) => all.map((step) => `${step.do} ${step.path}`);

describe('the steps to a planned project', () => {
  it('are none where the project has it already', () => {
    const [file, folder, link] = [onDisk('file', 0o644), onDisk('folder', 0o755), onDisk('link', 0o777, 1, 'x')];
    const plan = {
      file: planned(file.entry, file.source),
      folder: planned(entry('folder', 0o755)),
      link: planned(entry('link', 0, 'x')),
      none: null,
    };
    expect(steps({ file, folder, link }, plan)).toEqual([]);
  });

  it('make a new file for new content, and never write into the old one', () => {
    const file = onDisk('file', 0o644);
    expect(steps({ file }, { file: planned(entry('file', 0o644), bytes('agent')) })).toEqual([
      expect.objectContaining({ do: 'file', path: 'file', old: file.stamp }),
    ]);
  });

  it('set a mode in place, but make a new file if the old one has other names', () => {
    for (const [names, act] of [
      [1, 'chmod'],
      [2, 'file'],
    ] as const) {
      const file = onDisk('file', 0o644, names);
      const made = steps({ file }, { file: planned({ ...file.entry, mode: 0o755 }, file.source) });
      expect(shown(made)).toEqual([`${act} file`]);
    }
  });

  it('set the mode of a folder in place, which always has several links', () => {
    const folder = onDisk('folder', 0o755, 5);
    expect(shown(steps({ folder }, { folder: planned(entry('folder', 0o700)) }))).toEqual(['chmod folder']);
  });

  it('keep a folder that was deleted if something is put into it, and not one that a file replaces', () => {
    const [gone, file] = [onDisk('folder', 0o755), onDisk('folder', 0o755)];
    const made = steps({ gone, file }, { gone: null, file: planned(entry('file', 0o644), bytes('f')) });
    expect(made.filter((step) => step.do === 'rmdir').map(({ path, kept }) => [path, kept])).toEqual([
      ['gone', true],
      ['file', false],
    ]);
    expect(shown(made).at(-1)).toBe('file file');
  });

  it('empty folders before they are removed, and make folders before they are filled', () => {
    const disk = {
      old: onDisk('folder', 0o755),
      'old/in': onDisk('folder', 0o755),
      'old/in/a': onDisk('file', 0o644),
      swap: onDisk('file', 0o644),
    };
    const plan = {
      old: null,
      'old/in': null,
      'old/in/a': null,
      new: planned(entry('folder', 0o755)),
      'new/in': planned(entry('folder', 0o755)),
      'new/in/a': planned(entry('file', 0o644), bytes('a')),
      swap: planned(entry('folder', 0o755)),
      'swap/l': planned(entry('link', 0, 'a')),
    };
    expect(shown(steps(disk, plan))).toEqual([
      ...['remove old/in/a', 'rmdir old/in', 'rmdir old'],
      ...['mkdir new', 'mkdir new/in', 'mkdir swap', 'file new/in/a', 'link swap/l'],
    ]);
  });

  it('open a folder before its entries change, and close it after that', () => {
    const disk = { shut: onDisk('folder', 0o555), open: onDisk('folder', 0o755), 'open/in': onDisk('folder', 0o755) };
    const plan = {
      shut: planned(entry('folder', 0o755)),
      'shut/a': planned(entry('file', 0o644), bytes('a')),
      open: planned(entry('folder', 0o555)),
      'open/in': planned(entry('folder', 0o500)),
      'open/in/b': planned(entry('file', 0o644), bytes('b')),
    };
    expect(shown(steps(disk, plan))).toEqual([
      'chmod shut',
      ...['file open/in/b', 'file shut/a'],
      ...['chmod open/in', 'chmod open'],
    ]);
  });

  it('are each in one phase, whatever they do', () => {
    const old = onDisk('file', 0o644).stamp;
    const all: ApplyStep[] = [
      { do: 'restore', path: 'a', old: null, kept: '/kept', was: old },
      { do: 'chmod', path: 'b', old, mode: 0o644 },
      { do: 'remove', path: 'c', old },
      { do: 'rmdir', path: 'd', old, kept: true },
      { do: 'mkdir', path: 'e', old: null, make: { mode: 0o755, owner: null } },
      { do: 'link', path: 'f', old: null, target: 'x' },
      { do: 'file', path: 'g', old: null, make: { mode: 0o644, sizeBytes: 0, source: bytes(''), sha256: null } },
    ];
    expect(inOrder(all).toSorted((one, other) => (one.path < other.path ? -1 : 1))).toEqual(all);
  });
});
