import { beforeEach, expect, test } from 'vitest';
import { createMemoryStore } from '../../../../../test/fakes/store/memory.ts';
import type { CredentialRequest } from '../../model/credential.ts';
import { credentialHeaders } from './header.ts';
import { UserCredentials } from './user-credentials.ts';

const secrets = { read: (user: string) => Buffer.from(`key of ${user}`) };
let headersFor: ReturnType<typeof credentialHeaders>;
let add: (request: Partial<CredentialRequest>, user?: string) => void;
beforeEach(() => {
  const store = createMemoryStore();
  headersFor = credentialHeaders({ store, owner: 'ann', secrets });
  add = (request, user = 'ann') =>
    void new UserCredentials({ name: user, isOwner: true }, { store, secrets, now: () => '' }).add({
      ...{ name: 'vectors', secret: 'KEY', header: 'authorization', format: 'Bearer {}', ...request },
    });
});

test.each([
  ['api.example.org', 'https://api.example.org/v1'],
  ['api.example.org', 'https://api.example.org:443/v1'],
  ['api.example.org:8443', 'https://api.example.org:8443'],
  ['http://10.0.0.7', 'http://10.0.0.7/v1'],
  ['http://10.0.0.7:8001', 'http://10.0.0.7:8001'],
])('the key of a credential for %s is sent to %s', (host, url) => {
  add({ host });
  expect(headersFor({ url, credential: 'vectors' })).toEqual({ authorization: 'Bearer key of ann' });
});

test.each([
  ['another host', 'https://evil.example.org/v1'],
  ['a host below it', 'https://x.api.example.org/v1'],
  ['a host that only begins like it', 'https://api.example.org.evil.org/v1'],
  ['the host as the name of a user', 'https://api.example.org@evil.org/v1'],
  ['another port', 'https://api.example.org:8443/v1'],
  ['plain HTTP', 'http://api.example.org/v1'],
  ['plain HTTP at the same port', 'http://api.example.org:443/v1'],
])('the key is not sent to %s', (_, url) => {
  add({ host: 'api.example.org' });
  expect(() => headersFor({ url, credential: 'vectors' })).toThrow(expect.objectContaining({ code: 'denied' }));
});

test('a key for plain HTTP is not sent by HTTPS, because that is another server', () => {
  add({ host: 'http://api.example.org' });
  expect(() => headersFor({ url: 'https://api.example.org', credential: 'vectors' })).toThrow('is not for');
});

test('only credentials of the owner are used', () => {
  add({ host: 'api.example.org' }, 'bob');
  expect(() => headersFor({ url: 'https://api.example.org', credential: 'vectors' })).toThrow('is not for');
});

test('without a credential there is no header', () => {
  expect(headersFor({ url: 'https://api.example.org', credential: null })).toEqual({});
});
