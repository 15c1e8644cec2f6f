import type { ProbeRow } from '../../engine.ts';
import { ok, warning } from '../../probe-row.ts';

export interface Disk {
  readonly folder: string;
  readonly bytes: number;
  readonly freeBytes: number;
  /** 0: the filesystem does not count inodes. */
  readonly inodes: number;
  readonly freeInodes: number;
}

const leastShare = 0.05;
const leastBytes = 1e9;

export function diskRows(disk: Disk): ProbeRow[] {
  return [spaceRow(disk), inodeRow(disk)];
}

function spaceRow({ folder, bytes, freeBytes }: Disk): ProbeRow {
  const detail = `${(freeBytes / 1e9).toFixed(1)} GB free of ${(bytes / 1e9).toFixed(1)} at ${folder}`;
  if (freeBytes >= leastBytes && freeBytes >= bytes * leastShare) return ok('disk-space', detail);
  return warning('disk-space', detail, 'Free some space, or set CARREL_HOME to a folder on another disk.');
}

function inodeRow({ folder, inodes, freeInodes }: Disk): ProbeRow {
  if (inodes === 0) return ok('disk-inodes', 'made as they are needed');
  const detail = `${Math.floor((100 * freeInodes) / inodes)} % free at ${folder}`;
  if (freeInodes >= inodes * leastShare) return ok('disk-inodes', detail);
  return warning('disk-inodes', detail, 'Remove some files, or set CARREL_HOME to a folder on another disk.');
}
