/**
 * Tokens of the hub: JWTs that this installation signs and reads itself, with a key for each user.
 *
 * A token names its user, its projects and the groups of tools; `kid` names the key. Reading one fails closed: another
 * algorithm, another key, a claim that is missing or has another shape, another issuer or audience, or a time that has
 * passed is `unauthenticated`. The caller has to check, by the id of the token, whether it was revoked.
 */
import { createHash } from 'node:crypto';
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { Fault } from '../../../model/fault.ts';
import { projectIdPattern } from '../../project/model/project.ts';
import { hubTokenIdPattern, type ProjectGrant, type ToolGroup, toolGroups } from '../model/token.ts';

export interface TokenGrant {
  readonly id: string;
  readonly user: string;
  readonly projects: ProjectGrant;
  readonly groups: readonly ToolGroup[];
  readonly issuedAtSeconds: number;
  readonly expiresAtSeconds: number;
}

export interface Keys {
  /** Null: this user has no key. */
  of(user: string): Uint8Array | null;
}

const algorithm = 'HS256';
const type = 'JWT';
const maxLength = 10_000;
const required = ['sub', 'iss', 'aud', 'iat', 'exp', 'jti', 'project_id', 'user_id', 'scope'];

export function signToken(grant: TokenGrant, key: Uint8Array, installation: string): Promise<string> {
  const { id, user, projects, groups, issuedAtSeconds, expiresAtSeconds } = grant;
  const claims = { project_id: projects, user_id: user, scope: groups.join(' ') };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: algorithm, typ: type, kid: user })
    .setJti(id)
    .setSubject(user)
    .setIssuer(issuerOf(installation))
    .setAudience(audienceOf(installation))
    .setIssuedAt(issuedAtSeconds)
    .setExpirationTime(expiresAtSeconds)
    .sign(key);
}

/** The number of tokens whose verification is cached. */
const maxKnown = 1000;

/**
 * Reads tokens. A signature is verified once and then cached, because verifying it takes longer than a short call. The
 * key and the expiry are checked each time.
 */
export class TokenReader {
  readonly #keys: Keys;
  readonly #installation: string;
  /** By a hash of the token and the key, so that no token is kept in memory. The least recently used comes first. */
  readonly #known = new Map<string, TokenGrant>();

  constructor(keys: Keys, installation: string) {
    this.#keys = keys;
    this.#installation = installation;
  }

  async read(text: string, now: Date): Promise<TokenGrant> {
    if (text.length > maxLength) throw refused('it is too long');
    const key = keyOf(this.#keys, userIn(text));
    const digest = createHash('sha256').update(key).update(text).digest('base64');
    const grant = this.#known.get(digest) ?? (await verified(text, key, this.#installation, now));
    if (grant.expiresAtSeconds * 1000 <= now.getTime()) throw refused('it has expired');
    this.#remember(digest, grant);
    return grant;
  }

  #remember(digest: string, grant: TokenGrant): void {
    this.#known.delete(digest);
    if (this.#known.size >= maxKnown) this.#known.delete(this.#known.keys().next().value!);
    this.#known.set(digest, grant);
  }
}

async function verified(text: string, key: Uint8Array, installation: string, now: Date): Promise<TokenGrant> {
  const expected = { issuer: issuerOf(installation), audience: audienceOf(installation), currentDate: now };
  const options = { algorithms: [algorithm], typ: type, requiredClaims: required, clockTolerance: 0, ...expected };
  try {
    const { payload, protectedHeader } = await jwtVerify(text, key, options);
    return grantOf(payload, protectedHeader.kid!);
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw refused('it has expired', error);
    if (error instanceof errors.JOSEError || error instanceof TypeError) throw refused('it is not valid here', error);
    throw error;
  }
}

/** The user that the token claims to belong to; not verified. */
function userIn(text: string): unknown {
  try {
    return decodeProtectedHeader(text).kid;
  } catch (error) {
    throw refused('it is not valid here', error);
  }
}

export function refused(why: string, cause?: unknown): Fault {
  return new Fault('unauthenticated', `the token is refused: ${why}`, {
    cause,
    hint: 'Make another one: carrel hub token --project ID',
    data: { error: 'invalid_token' },
  });
}

function issuerOf(installation: string): string {
  return `carrel:${installation}`;
}

function audienceOf(installation: string): string {
  return `carrel:${installation}:hub`;
}

function keyOf(keys: Keys, user: unknown): Uint8Array {
  const key = typeof user === 'string' ? keys.of(user) : null;
  if (key === null) throw refused('it is not valid here');
  return key;
}

/** The claims of a token whose signature is right. */
function grantOf(claims: JWTPayload, user: string): TokenGrant {
  const { jti, sub, aud, iat, exp, project_id: projects, user_id: userId, scope } = claims;
  const groups = typeof scope === 'string' ? scope.split(' ') : [];
  const isWhole = sub === user && userId === user && typeof aud === 'string' && iat! < exp!;
  if (!isWhole || !isId(jti) || !isProjects(projects) || !isGroups(groups)) throw refused('it is not valid here');
  return { id: jti, user, projects, groups, issuedAtSeconds: iat!, expiresAtSeconds: exp! };
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && hubTokenIdPattern.test(value);
}

function isProjects(value: unknown): value is ProjectGrant {
  if (value === '*') return true;
  const isProject = (id: unknown) => typeof id === 'string' && projectIdPattern.test(id);
  return Array.isArray(value) && value.length > 0 && value.every(isProject);
}

function isGroups(values: readonly string[]): values is ToolGroup[] {
  return values.length > 0 && values.every((one) => (toolGroups as readonly string[]).includes(one));
}
