/** A copy of a file or link, equal in everything that its stamp records. */
import { closeSync, constants, openSync, symlinkSync } from 'node:fs';
import { setTimes } from '../../../../lib/sys/sys.ts';
import { toBytes, toText } from '../../../../model/byte-path.ts';
import { Fault } from '../../../../model/fault.ts';
import { copyPart, openRegular, using } from '../../tree/content.ts';
import { type EntryLocation, pathOf } from '../../tree/folders.ts';
import { setMode, setOwner, withNewEntryOpen } from '../../tree/open-entry.ts';
import type { Stamp } from '../stamp.ts';

export function copyAs(from: EntryLocation, to: EntryLocation, was: Stamp): void {
  if (was.type === 'link') copyLink(to, was);
  else if (was.type === 'file') copyFile(from, to, was);
  else throw new Fault('unsupported', `a ${was.type} of the project cannot be kept on another filesystem`);
}

function copyLink(to: EntryLocation, was: Stamp): void {
  symlinkSync(toBytes(was.target!), pathOf(to));
  withNewEntryOpen(to, 'link', (fd) => {
    setOwner(fd, was);
    setTimes(fd, BigInt(was.mtimeNs), BigInt(was.mtimeNs));
  });
}

function copyFile(from: EntryLocation, to: EntryLocation, was: Stamp): void {
  const fd = openSync(pathOf(to), constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    const copied = using(openRegular(from.folder, from.name), (part) => copyPart(part, fd));
    if (copied?.bytes !== was.sizeBytes)
      throw new Fault('conflict', `${toText(from.name)} changed while it was being copied`, { hint: 'Try again.' });
    setOwner(fd, was);
    setMode(fd, was.mode);
    setTimes(fd, BigInt(was.mtimeNs), BigInt(was.mtimeNs));
  } finally {
    closeSync(fd);
  }
}
