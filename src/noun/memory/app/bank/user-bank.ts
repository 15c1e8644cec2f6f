/** The memory bank of one user, for the routes. */

import { isFault } from '../../../../model/fault.ts';
import type { BankLogQuery, BankRestoreRequest, BankVersionView } from '../../api/bank.ts';
import type { BankWriter } from '../../model/bank.ts';
import type { LiveBanks } from './live-banks.ts';

const defaultLimit = 50;
const maxLimit = 1000;

export interface UserBankParts {
  readonly banks: Pick<LiveBanks, 'open' | 'scan' | 'plainWriter'>;
  /** Creates the volume if it does not exist yet. */
  readonly prepare: () => void;
  /** Histories that were set aside. */
  readonly damaged: () => readonly string[];
}

export class UserBank {
  readonly #user: string;
  readonly #parts: UserBankParts;

  constructor(user: string, parts: UserBankParts) {
    this.#user = user;
    this.#parts = parts;
  }

  damaged(): readonly string[] {
    return this.#parts.damaged();
  }

  async log({ path, limit = defaultLimit, diffs }: BankLogQuery): Promise<BankVersionView[]> {
    this.#parts.prepare();
    await this.#scanIfSpace();
    const bank = await this.#parts.banks.open(this.#user);
    const query = { path: path ?? null, limit: Math.min(limit, maxLimit), diffs: diffs === 'true' };
    return [...(await bank.log(query))];
  }

  async restore({ path, version }: BankRestoreRequest): Promise<BankVersionView> {
    this.#parts.prepare();
    const bank = await this.#parts.banks.open(this.#user);
    const person: BankWriter = { kind: 'person', name: this.#user, id: null, agent: null, session: null };
    return bank.restore(path, version, person, await this.#parts.banks.plainWriter(this.#user));
  }

  /** On a full disk the scan is skipped, so that the recorded versions can still be read. */
  async #scanIfSpace(): Promise<void> {
    try {
      await this.#parts.banks.scan(this.#user);
    } catch (error) {
      if (!isFault(error, 'exhausted')) throw error;
    }
  }
}
