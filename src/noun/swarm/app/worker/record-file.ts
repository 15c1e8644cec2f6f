/** The record that an adapter keeps in its sandbox. The agent can write there: no link is followed, and every read is bounded. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { readBoundedReal } from '../../../../lib/file/bounded-read.ts';
import { parseBounded } from '../../../../lib/wire/bounded-json.ts';
import { adapterDataFolder, outcomeFile } from '../../../agent/model/agent.ts';
import { checkOutcome, maxOutcomeBytes } from '../../model/outcome.ts';
import type { RecordedOutcome } from './container-actions.ts';

/** Null: there is none, or it is not valid. */
export function readRecord(state: string): RecordedOutcome | null {
  try {
    const file = readBoundedReal(join(state, 'data', adapterDataFolder, outcomeFile), maxOutcomeBytes);
    if (file === null) return null;
    const outcome = checkOutcome(parseBounded(file.bytes));
    return { outcome, digest: createHash('sha256').update(file.bytes).digest('hex').slice(0, 16) };
  } catch {
    return null;
  }
}
