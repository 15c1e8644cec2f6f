/**
 * Rewrites a base log that is much longer than its content. One rename replaces the old log, so that a crash leaves one
 * of the two. A reader of the old log may still need contents in it, so the old log stays for a while under another
 * name, where `openContent` finds it.
 */

import { closeSync, linkSync, lstatSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from '../../../../lib/file/file.ts';
import { crashPoint } from '../../../../lib/flow/crash-point.ts';
import type { BytePath } from '../../../../model/byte-path.ts';
import { isFault } from '../../../../model/fault.ts';
import { earlierLog, readKept } from '../../tree/content.ts';
import type { BaseLog, BaseRecord } from '../change.ts';
import { BaseLogWriter, contentInLog } from './base-log.ts';

const worthBytes = 1024 * 1024;
const slack = 4;
/** The approximate size of a record without its content. */
const headerBytes = 512;
/** No review is read for longer than this. */
const keptMs = 3_600_000;

/** True: the log is a new file now. The caller holds the lock of the workspace. */
export function compactBaseLog(log: BaseLog): boolean {
  forgetEarlier(log.file);
  if (log.wholeBytes < worthBytes || log.wholeBytes < slack * neededBytes(log)) return false;
  const next = `${log.file}.new`;
  rmSync(next, { force: true });
  try {
    writeAgain(log, next);
  } catch (error) {
    rmSync(next, { force: true });
    // A damaged record is reported when it is needed; until then the log stays as it is.
    if (isFault(error, 'corrupt')) return false;
    throw error;
  }
  crashPoint('base-log:written');
  rmSync(earlierLog(log.file), { force: true });
  linkSync(log.file, earlierLog(log.file));
  renameSync(next, log.file);
  syncFolder(dirname(log.file));
  crashPoint('base-log:replaced');
  return true;
}

function forgetEarlier(file: string): void {
  const earlier = lstatSync(earlierLog(file), { throwIfNoEntry: false });
  if (earlier !== undefined && Date.now() - earlier.ctimeMs > keptMs) rmSync(earlierLog(file), { force: true });
}

function neededBytes({ records }: BaseLog): number {
  let bytes = 0;
  for (const record of records.values())
    for (const one of historyOf(record)) bytes += headerBytes + (one.content?.lengthBytes ?? 0);
  return bytes;
}

/** The oldest first: after an undo the record before the applied one counts. */
function historyOf(record: BaseRecord): BaseRecord[] {
  return record.previous === null ? [record] : [...historyOf(record.previous), record];
}

function writeAgain(log: BaseLog, file: string): void {
  const writer = new BaseLogWriter({ ...log, file, wholeBytes: 0, observationOffset: null });
  const fd = openSync(log.file, 'r');
  try {
    for (const [path, record] of log.records) for (const one of historyOf(record)) rewrite(writer, path, one, log, fd);
    for (const path of log.hiding) writer.hides(path);
    if (log.lookedNs !== null) writer.noteObserved(log.lookedNs);
  } finally {
    closeSync(fd);
    writer.close();
  }
}

function rewrite(writer: BaseLogWriter, path: BytePath, record: BaseRecord, log: BaseLog, fd: number): void {
  const content = contentInLog(log.file, record);
  writer.record(path, { ...record, content: content?.at === 'log' ? readKept(fd, content) : null });
}
