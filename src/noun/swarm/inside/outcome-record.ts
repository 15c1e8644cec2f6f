/** The outcome on disk. Every change is written before the call returns; a full disk is an error. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readIfThere, writeWhole } from '../../../lib/file/file.ts';
import { AdapterError } from '../../agent/inside/adapter-error.ts';
import { outcomeFile } from '../../agent/model/agent.ts';
import { checkOutcome, maxOutcomeBytes, type Outcome } from '../model/outcome.ts';

export class OutcomeRecord {
  readonly #path: string;
  #outcome: Outcome;

  private constructor(path: string, outcome: Outcome) {
    this.#path = path;
    this.#outcome = outcome;
  }

  /** The record of an earlier run; null: it is missing or not valid. */
  static read(folder: string): OutcomeRecord | null {
    const path = join(folder, outcomeFile);
    const text = readIfThere(path);
    if (text === null || text.length > maxOutcomeBytes) return null;
    try {
      return new OutcomeRecord(path, checkOutcome(JSON.parse(text)));
    } catch {
      // The branch still has the stories that are done.
      return null;
    }
  }

  static create(folder: string, outcome: Outcome): OutcomeRecord {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const record = new OutcomeRecord(join(folder, outcomeFile), outcome);
    record.#write(outcome);
    return record;
  }

  get outcome(): Outcome {
    return this.#outcome;
  }

  change(change: Partial<Outcome>): void {
    this.#write({ ...this.#outcome, ...change });
  }

  #write(outcome: Outcome): void {
    try {
      writeWhole(this.#path, `${JSON.stringify(outcome, null, 1)}\n`);
    } catch (error) {
      throw new AdapterError('UNKNOWN_ERROR', `the outcome cannot be recorded: ${(error as Error).message}`);
    }
    this.#outcome = outcome;
  }
}
