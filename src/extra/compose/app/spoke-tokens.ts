/**
 * The projects of a hub's container, with a token for each in a file that the project's container reads. A token is
 * made for a new project, for a missing file, and before the old one expires. A revoked token is not replaced: its file
 * stays, and the hub refuses it.
 */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { readIfThere, writeWhole } from '../../../lib/file/file.ts';
import { asFault, type Fault } from '../../../model/fault.ts';
import { maxTokenSeconds } from '../../../noun/hub/model/token.ts';
import type { AnswerOf, Input } from '../../../noun/routes.ts';
import { spokeTokenName, spokeTokensPath } from '../model.ts';

/** How long before its expiry a token is replaced. */
const earlyMs = 60 * 24 * 60 * 60 * 1000;

type Route = `${'GET' | 'POST'} /v1/${'projects' | 'hub/tokens'}` | `DELETE /v1/${'projects' | 'hub/tokens'}/{name}`;

/** The daemon of the hub, as a client sees it. */
interface HubRoutes {
  call<K extends Route>(route: K, input?: Input<K>): Promise<AnswerOf<K>>;
}

interface TokenClaims {
  readonly jti?: string;
  readonly exp?: number;
}

export class SpokeTokens {
  readonly #hub: HubRoutes;
  readonly #projects: readonly string[];
  readonly #complain: (about: string, fault: Fault) => void;
  readonly #folder: string;

  constructor(
    hub: HubRoutes,
    projects: readonly string[],
    complain: (about: string, fault: Fault) => void,
    folder = spokeTokensPath,
  ) {
    this.#hub = hub;
    this.#projects = projects;
    this.#complain = complain;
    this.#folder = folder;
  }

  /** The failure of one project does not affect the others. */
  async provide(): Promise<void> {
    const known = (await this.#hub.call('GET /v1/projects')).map(({ id }) => id);
    const gone = known.filter((id) => !this.#projects.includes(id));
    for (const name of gone) await this.#hub.call('DELETE /v1/projects/{name}', { path: { name } });
    for (const id of this.#projects) {
      await this.#one(id, known.includes(id)).catch((error: unknown) => this.#complain(id, asFault(error)));
    }
  }

  async #one(id: string, isKnown: boolean): Promise<void> {
    const file = join(this.#folder, id, spokeTokenName);
    const old = claimsIn(readIfThere(file));
    if (isKnown && old !== null && (old.exp ?? 0) * 1000 > Date.now() + earlyMs) return;
    if (!isKnown) await this.#hub.call('POST /v1/projects', { body: { id, mode: 'elsewhere' } });
    const body = { projects: [id], groups: ['spoke' as const], expiresSeconds: maxTokenSeconds };
    const { token } = await this.#hub.call('POST /v1/hub/tokens', { body });
    writeWhole(file, `${token}\n`);
    chmodSync(file, 0o400);
    if (isKnown && old?.jti !== undefined) await this.#revoke(old.jti);
  }

  async #revoke(name: string): Promise<void> {
    const tokens = await this.#hub.call('GET /v1/hub/tokens');
    if (tokens.some(({ id }) => id === name)) await this.#hub.call('DELETE /v1/hub/tokens/{name}', { path: { name } });
  }
}

/** Reads the claims without verifying them: the hub verifies a token when it is used. */
function claimsIn(token: string | null): TokenClaims | null {
  try {
    const [, payload = ''] = (token ?? '').split('.');
    return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as TokenClaims;
  } catch {
    return null;
  }
}
