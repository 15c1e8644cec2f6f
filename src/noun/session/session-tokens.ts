/** The tokens by which clients outside of Carrel use the agent API of one sandbox: a file with their hashes, which goes with the sandbox. */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readIfThere, writeWhole } from '../../lib/file/file.ts';
import { Fault } from '../../model/fault.ts';
import { list, object, text } from '../../model/shape.ts';

export interface SessionToken {
  readonly id: string;
  readonly createdAt: string;
}

/** The agent API takes 100 tokens, one of them the daemon's. */
const maxTokens = 99;

const records = list(
  object({
    id: text({ pattern: /^[0-9a-f]{8}$/, says: 'an id' }),
    createdAt: text({ max: 100 }),
    hash: text({ pattern: /^[0-9a-f]{64}$/, says: 'a SHA-256 in hex' }),
  }),
  maxTokens,
);
type Stored = ReturnType<typeof records>[number];

export class SessionTokens {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Whether a token was ever created, even if none is left. */
  get wereCreated(): boolean {
    return existsSync(this.#path);
  }

  list(): SessionToken[] {
    return this.#read().map(viewOf);
  }

  hashes(): string[] {
    return this.#read().map(({ hash }) => hash);
  }

  /** Creates a token. Only this answer contains it; the file has its hash. */
  create(createdAt: string): SessionToken & { readonly token: string } {
    const known = this.#read();
    if (known.length >= maxTokens)
      throw new Fault('exhausted', `the sandbox has ${maxTokens} tokens already`, {
        hint: 'Revoke some of them: carrel session token SANDBOX rm ID',
      });
    const token = randomBytes(32).toString('base64url');
    const record = { id: randomBytes(4).toString('hex'), createdAt, hash: hashOf(token) };
    this.#write([...known, record]);
    return { ...viewOf(record), token };
  }

  /** Null: there is none with this id. */
  remove(id: string): SessionToken | null {
    const known = this.#read();
    const found = known.find((one) => one.id === id);
    if (found === undefined) return null;
    this.#write(known.filter((one) => one !== found));
    return viewOf(found);
  }

  #read(): readonly Stored[] {
    const content = readIfThere(this.#path);
    if (content === null) return [];
    try {
      return records(JSON.parse(content), []);
    } catch (cause) {
      throw new Fault('corrupt', `${this.#path} is damaged`, {
        cause,
        hint: 'Remove it; its tokens are refused then.',
      });
    }
  }

  #write(all: readonly Stored[]): void {
    writeWhole(this.#path, JSON.stringify(all));
  }
}

export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

function viewOf({ id, createdAt }: Stored): SessionToken {
  return { id, createdAt };
}
