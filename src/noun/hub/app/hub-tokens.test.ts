import { createHmac, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createMemoryStore } from '../../../../test/fakes/store/memory.ts';
import { TokenKeys } from '../../../kernel/server/token-keys.ts';
import type { Store } from '../../../kernel/store/store.ts';
import type { User } from '../../../model/user.ts';
import { HubTokens } from './hub-tokens.ts';

let folder: string;
let store: Store;
let users: Map<string, User>;
let time: number;
let tokens: HubTokens;
let logged: string[];

const at = (ms: number) => new Date(ms).toISOString();
const bearer = (token: string, url = '/mcp') => ({ authorization: `Bearer ${token}`, url });

function open(installation = 'home-1'): HubTokens {
  const keys = new TokenKeys(join(folder, 'keys'));
  const known = { find: (name: string) => users.get(name) ?? null };
  const audit = {
    begin: ({ verb }: { verb: string }) => ({ end: (outcome: string) => void logged.push(`${verb} ${outcome}`) }),
  };
  return new HubTokens({ store, keys, audit, installation, users: known, now: () => at(time) });
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-tokens-'));
  store = createMemoryStore();
  logged = [];
  time = Date.parse('2026-01-01T00:00:00.500Z');
  users = new Map(['ann', 'bob'].map((name, slot) => [name, { name, slot, createdAt: at(time) }]));
  tokens = open();
});
afterEach(() => rmSync(folder, { recursive: true }));

async function made(user = 'ann'): Promise<string> {
  return (await tokens.create(user, { projects: ['shop'] })).token;
}

type Part = Record<string, unknown>;

function decoded(token: string, index: number): Part {
  return JSON.parse(Buffer.from(token.split('.')[index]!, 'base64url').toString()) as Part;
}

function keyOf(user = 'ann'): Uint8Array {
  return new TokenKeys(join(folder, 'keys')).of(user)!;
}

/** The token with changed contents, signed with this key. */
function forged(token: string, header: Part, claims: Part, key = keyOf()): string {
  const encode = (part: Part) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const text = [encode({ ...decoded(token, 0), ...header }), encode({ ...decoded(token, 1), ...claims })].join('.');
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
}

it('a caller gets the projects and groups of its token, also after a restart', async () => {
  const token = (await tokens.create('ann', { projects: ['shop', 'shop'], groups: ['files', 'swarm'] })).token;
  const { user, caller } = await open().authenticate(bearer(token));
  const { id } = tokens.list('ann')[0]!;
  expect({ user, caller }).toEqual({
    user: 'ann',
    caller: { name: id, projects: ['shop'], groups: ['files', 'swarm'] },
  });
  expect(decoded(token, 1)).toEqual({
    ...{ sub: 'ann', user_id: 'ann', project_id: ['shop'], scope: 'files swarm', jti: id },
    ...{ iss: 'carrel:home-1', aud: 'carrel:home-1:hub' },
    ...{ iat: Math.floor(time / 1000), exp: Math.floor(time / 1000) + 8 * 3600 },
  });
});

it('the store has what a token grants and never the token, and other accounts cannot read the keys', async () => {
  const token = await made();
  expect(JSON.stringify(store.list('hubToken'))).not.toContain(token.split('.')[2]);
  const keys = join(folder, 'keys');
  expect(statSync(keys).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(keys)) {
    expect(statSync(join(keys, name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(keys, name))).toHaveLength(32);
  }
});

describe('the check of a token refuses', () => {
  const refusal = { code: 'unauthenticated' };

  it('a token that was revoked, also in an open session', async () => {
    const session = await tokens.authenticate(bearer(await made()));
    const other = await made();
    expect(() => session.check()).not.toThrow();
    tokens.remove('ann', session.caller.name);
    expect(() => session.check()).toThrow(/revoked/);
    await expect(tokens.authenticate(bearer(other))).resolves.toBeDefined();
  });

  it('every token of a user after rm --all, and no token of another user', async () => {
    const [first, of] = [await made(), await made('bob')];
    const before = keyOf();
    expect(tokens.removeAll('ann')).toHaveLength(1);
    await expect(tokens.authenticate(bearer(first))).rejects.toMatchObject(refusal);
    await expect(tokens.authenticate(bearer(of))).resolves.toBeDefined();
    const next = await made();
    expect(keyOf()).not.toEqual(before);
    await expect(tokens.authenticate(bearer(next))).resolves.toBeDefined();
    await expect(tokens.authenticate(bearer(forged(next, {}, {}, before)))).rejects.toMatchObject(refusal);
  });

  it('an expired token, also in an open session', async () => {
    const { token } = await tokens.create('ann', { projects: '*', expiresSeconds: 60 });
    const session = await tokens.authenticate(bearer(token));
    time += 60_000;
    expect(() => session.check()).toThrow(/expired/);
    await expect(tokens.authenticate(bearer(token))).rejects.toThrow(/expired/);
  });

  it('a token of a user who was removed, and after they were added again', async () => {
    const session = await tokens.authenticate(bearer(await made()));
    const ann = users.get('ann')!;
    users.delete('ann');
    expect(() => session.check()).toThrow(/revoked/);
    users.set('ann', { ...ann, createdAt: at(time + 1) });
    expect(() => session.check()).toThrow(/revoked/);
  });

  it('a token of another installation with the same key', async () => {
    await expect(open('home-2').authenticate(bearer(await made()))).rejects.toMatchObject(refusal);
  });

  const unsigned = (token: string) => {
    const header = Buffer.from('{"alg":"none","typ":"JWT","kid":"ann"}').toString('base64url');
    return `${header}.${token.split('.')[1]}.`;
  };
  const without = (name: string) => (token: string) => forged(token, {}, { [name]: undefined });
  const claiming = (claims: Part) => (token: string) => forged(token, {}, claims);
  it.each<[string, (token: string) => string]>([
    ['without a signature', (token) => `${token.split('.').slice(0, 2).join('.')}.`],
    ['of algorithm none', unsigned],
    ['of another algorithm', (token) => forged(token, { alg: 'HS512' }, {})],
    ['of another type', (token) => forged(token, { typ: 'at+jwt' }, {})],
    ['with a critical extension', (token) => forged(token, { crit: ['b64'], b64: false }, {})],
    ['signed by another key', (token) => forged(token, {}, {}, randomBytes(32))],
    ['that brings its own key', (token) => forged(token, { jwk: { kty: 'oct', k: 'AA' } }, {}, Buffer.from([0]))],
    ['that names a file as its key', (token) => forged(token, { kid: '../../etc/passwd' }, {})],
    ['without a name of a key', (token) => forged(token, { kid: undefined }, {})],
    ['of another user by its claims', claiming({ sub: 'bob', user_id: 'bob' })],
    ['of another user by one claim', claiming({ user_id: 'bob' })],
    ...['sub', 'iss', 'aud', 'iat', 'exp', 'jti', 'project_id', 'user_id', 'scope'].map(
      (name) => [`without ${name}`, without(name)] as [string, (token: string) => string],
    ),
    ['of another issuer', claiming({ iss: 'carrel:home-2' })],
    ['for another audience', claiming({ aud: 'https://example.com/mcp' })],
    ['for several audiences', claiming({ aud: ['carrel:home-1:hub', 'https://example.com'] })],
    ['of an unknown id', claiming({ jti: '0123456789abcdef' })],
    ['with an id of another shape', claiming({ jti: ['0123456789abcdef'] })],
    ['with no project', claiming({ project_id: [] })],
    ['with a project of another shape', claiming({ project_id: 'shop' })],
    ['with a pattern among its projects', claiming({ project_id: ['*'] })],
    ['with an unknown scope', claiming({ scope: 'files admin' })],
    ['that is not valid yet', claiming({ nbf: 4_000_000_000 })],
    ['that is too long', claiming({ padding: 'a'.repeat(20_000) })],
    ['that is no JWT', () => 'carrel_0123456789'],
  ])('a token %s', async (_, forge) => {
    await expect(tokens.authenticate(bearer(forge(await made())))).rejects.toMatchObject(refusal);
    expect(logged).toEqual(['access unauthenticated']);
  });

  it('a valid token in a URL, and a request without one', async () => {
    const token = await made();
    for (const url of [`/mcp?access_token=${token}`, `/mcp?x=${token}`, `/mcp?x=${encodeURIComponent(token)}`]) {
      await expect(tokens.authenticate(bearer(token, url))).rejects.toThrow(/URL/);
      await expect(tokens.authenticate({ authorization: undefined, url })).rejects.toThrow(/URL/);
    }
    for (const authorization of [undefined, '', 'Bearer', 'Bearer ', `Basic ${token}`, `Bearer ${token} x`, token]) {
      await expect(tokens.authenticate({ authorization, url: '/mcp' })).rejects.toMatchObject(refusal);
    }
  });
});

it('projects and groups are taken from the record, not from claims that were signed again', async () => {
  const { caller } = await tokens.authenticate(bearer(forged(await made(), {}, { project_id: '*', scope: 'swarm' })));
  expect(caller).toMatchObject({ projects: ['shop'], groups: ['files', 'code', 'run'] });
});

it('the signature of a token is verified once for each key', async () => {
  const verify = vi.spyOn(crypto.subtle, 'verify');
  const [one, other] = [await made(), await made()];
  for (const token of [one, one, other, one]) await tokens.authenticate(bearer(token));
  expect(verify).toHaveBeenCalledTimes(2);
  new TokenKeys(join(folder, 'keys')).remove('ann');
  await made();
  await expect(tokens.authenticate(bearer(one))).rejects.toMatchObject({ code: 'unauthenticated' });
  expect(verify).toHaveBeenCalledTimes(3);
  verify.mockRestore();
});

it('the last use of a token is listed, and written only now and then', async () => {
  const token = await made();
  expect(tokens.list('ann')).toMatchObject([{ usedAt: null }]);
  await tokens.authenticate(bearer(token));
  const { revision } = store.list('hubToken')[0]!;
  time += 1000;
  await tokens.authenticate(bearer(token));
  expect(store.list('hubToken')[0]!.revision).toBe(revision);
  expect(tokens.list('ann')).toMatchObject([{ usedAt: at(time) }]);
  expect(open().list('ann')).toMatchObject([{ usedAt: at(time - 1000) }]);
});

it('records of expired tokens are removed when the next token is made', async () => {
  await tokens.create('ann', { projects: '*', expiresSeconds: 1 });
  time += 1000;
  await made();
  expect(tokens.list('ann')).toMatchObject([{ projects: ['shop'] }]);
});

it('a user sees and revokes only their own tokens', async () => {
  await made();
  const { id } = tokens.list('ann')[0]!;
  expect(tokens.list('bob')).toEqual([]);
  expect(() => tokens.remove('bob', id)).toThrow(/no token/);
  expect(() => tokens.remove('ann', '../x')).toThrow(/not an id/);
});
