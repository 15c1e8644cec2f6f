/** The record that an adapter keeps in its sandbox. The agent can write there: no link is followed, and every read is bounded. */
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { Anchor, within } from '../../lib/anchor.ts';
import { readUpTo } from '../../lib/read-up-to.ts';
import { adapterDataFolder, outcomeFile } from '../../model/agent.ts';
import { checkOutcome, maxOutcomeBytes } from '../../model/outcome.ts';
import type { KeptRecord } from '../../swarm/surface.ts';

/** Null: there is none, or what is there cannot be a record. */
export function readRecord(state: string): KeptRecord | null {
  try {
    const text = within(Anchor.reach(`${state}/data`), (data) =>
      within(data.enter(adapterDataFolder), (folder) => readEntry(folder.at(outcomeFile))),
    );
    const outcome = checkOutcome(JSON.parse(text));
    return { outcome, digest: createHash('sha256').update(text).digest('hex').slice(0, 16) };
  } catch {
    return null;
  }
}

function readEntry(path: Buffer): string {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return recordText(fd, maxOutcomeBytes);
  } finally {
    closeSync(fd);
  }
}

/** The file may grow while it is read, so the bytes that arrive are counted, not those that `stat` promised. */
export function recordText(fd: number, most: number): string {
  if (!fstatSync(fd).isFile()) throw new Error('not a file');
  const bytes = readUpTo(fd, most + 1);
  if (bytes.length > most) throw new Error(`more than ${most} bytes`);
  return bytes.toString('utf8');
}
