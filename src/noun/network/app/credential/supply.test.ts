import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createMemoryStore } from '../../../../../test/fakes/store/memory.ts';
import { samplePlaces } from '../../../../../test/fixtures/places.ts';
import { sampleSpec } from '../../../../../test/fixtures/sandbox.ts';
import { launchAdditions } from '../../../sandbox/launch/launch.ts';
import { initialStatus, type Sandbox } from '../../../sandbox/model.ts';
import type { CredentialRequest } from '../../model/credential.ts';
import { CredentialSupply } from './supply.ts';
import { UserCredentials } from './user-credentials.ts';

const now = () => '2026-01-01T00:00:00.000Z';
let folder: string;
let value: string;
let supply: CredentialSupply;
let give: (...requests: Partial<CredentialRequest>[]) => Sandbox;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-supply-'));
  value = 'first';
  const store = createMemoryStore();
  const secrets = { read: () => Buffer.from(value) };
  const credentials = new UserCredentials({ name: 'ann', isOwner: true }, { store, secrets, now });
  supply = new CredentialSupply({ home: samplePlaces(folder), store, secrets, roots: ['PEM'] });
  give = (...requests) => {
    const names = requests.map((request, at) => credentials.add({ name: `c${at}`, secret: 'KEY', ...request }).name);
    const spec = { ...sampleSpec, credentials: credentials.grants(names) };
    return { id: '0123456789abcdef', name: 'box', createdAt: now(), spec, status: initialStatus };
  };
});
afterEach(() => rmSync(folder, { recursive: true }));

it('the proxy gets a key for each service, at the ports that base URLs inside name', () => {
  const sandbox = give({ preset: 'github' }, { preset: 'anthropic' });
  const keys = supply.keysOf(sandbox);
  expect(keys.map(({ host, header, value: key, insidePort }) => [host, header, key, insidePort])).toEqual([
    ['api.github.com', 'authorization', 'Bearer first', 17_100],
    ['uploads.github.com', 'authorization', 'Bearer first', 17_120],
    ['github.com', 'authorization', `Basic ${Buffer.from('x-access-token:first').toString('base64')}`, 17_121],
    ['api.anthropic.com', 'x-api-key', 'first', 17_101],
  ]);
  const { env } = launchAdditions(sandbox, samplePlaces(folder));
  expect(env).toMatchObject({
    GITHUB_API_URL: 'http://127.0.0.1:17100',
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:17101',
    NODE_EXTRA_CA_CERTS: '/run/carrel/trust/authority.pem',
  });
  expect(JSON.stringify(env)).not.toContain('first');
});

it('the account that a token names becomes a second header, and only a part of the host is allowed', () => {
  const claims = { 'https://api.openai.com/auth': { chatgpt_account_id: 'account-1' } };
  value = `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln\n`;
  const sandbox = give({ preset: 'codex-login', host: 'gateway.example.org' });
  expect(supply.keysOf(sandbox)[0]).toMatchObject({
    ...{ host: 'gateway.example.org', value: `Bearer ${value.trim()}` },
    ...{ also: ['chatgpt-account-id', 'account-1'], paths: ['/backend-api/codex/'] },
  });
  value = 'no-such-token';
  expect(supply.keysOf(sandbox)[0]).not.toHaveProperty('also');
});

it('the proxy gets the current value of a secret', () => {
  const sandbox = give({ preset: 'openai' });
  expect(supply.keysOf(sandbox)[0]!.value).toBe('Bearer first');
  value = 'second';
  expect(supply.keysOf(sandbox)[0]!.value).toBe('Bearer second');
});

it('the certificate authority of a sandbox is written for its hosts, without a private key', () => {
  const sandbox = give({ preset: 'npm' });
  supply.provideTrust(sandbox);
  supply.provideTrust(sandbox);
  const trust = join(samplePlaces(folder).sandbox(sandbox.id), 'trust');
  const authority = readFileSync(join(trust, 'authority.pem'), 'utf8');
  expect(new X509Certificate(authority).subject).toBe(`CN=Carrel for ${sandbox.id}`);
  const bundle = readFileSync(join(trust, 'bundle.pem'), 'utf8');
  expect(bundle.endsWith(authority)).toBe(true);
  expect(bundle.split('BEGIN CERTIFICATE').length).toBeGreaterThan(50);
  expect(bundle).not.toContain('PRIVATE');
  expect([statSync(trust).mode & 0o777, statSync(join(trust, 'bundle.pem')).mode & 0o777]).toEqual([0o755, 0o644]);
  const { mounts } = launchAdditions(sandbox, samplePlaces(folder));
  expect(mounts).toContainEqual({ kind: 'bind', source: trust, target: '/run/carrel/trust', readonly: true });
});

it('a sandbox without credentials gets no keys and no authority', () => {
  const sandbox = give();
  supply.provideTrust(sandbox);
  expect(supply.keysOf(sandbox)).toEqual([]);
  const { env, mounts } = launchAdditions(sandbox, samplePlaces(folder));
  expect(env).not.toHaveProperty('SSL_CERT_FILE');
  expect(mounts.map(({ target }) => target)).not.toContain('/run/carrel/trust');
  expect(() => statSync(join(folder, 'authority.pem'))).toThrow();
});
