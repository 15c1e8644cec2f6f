/** The keys that sign tokens: one file for each user, created when the first token is made. A crash leaves no partial file. */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolder, writeWhole } from '../../lib/file/file.ts';
import { readKeyFile } from '../../lib/file/key-file.ts';
import { Fault } from '../../model/fault.ts';
import type { Keys } from '../../noun/hub/token/token.ts';

const keyBytes = 32;
const hint = 'Remove it: a new one is created, and all tokens of this user are refused from then on.';

export class TokenKeys implements Keys {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  of(user: string): Uint8Array | null {
    const path = this.#path(user);
    const key = readKeyFile(path, hint);
    if (key === null || key.length === keyBytes) return key;
    throw new Fault('corrupt', `${path} holds no key`, { hint });
  }

  ensure(user: string): Uint8Array {
    const known = this.of(user);
    if (known !== null) return known;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    writeWhole(this.#path(user), randomBytes(keyBytes));
    return this.of(user)!;
  }

  /** Every token of the user is refused from now on. */
  remove(user: string): void {
    if (!existsSync(this.#folder)) return;
    rmSync(this.#path(user), { force: true });
    syncFolder(this.#folder);
  }

  /** The name of the user may come from a token that is not verified yet, so it is never used as a path. */
  #path(user: string): string {
    return join(this.#folder, createHash('sha256').update(user).digest('hex'));
  }
}
