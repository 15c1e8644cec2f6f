import { beforeEach, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../../../test/fakes/store/memory.ts';
import { sampleSpec } from '../../../../../test/fixtures/sandbox.ts';
import type { Store } from '../../../../kernel/store/store.ts';
import { Fault } from '../../../../model/fault.ts';
import { initialStatus } from '../../../sandbox/model.ts';
import { UserSecrets } from '../../../user/app/secret/user-secrets.ts';
import { UserCredentials } from './user-credentials.ts';

const now = () => '2026-01-01T00:00:00.000Z';
let store: Store;
let kept: Map<string, Buffer>;
let credentials: UserCredentials;
let userSecrets: UserSecrets;
let refreshed: string[];

function secretsOf(user: string) {
  const key = (name: string) => `${user}/${name}`;
  return {
    read: (_: string, name: string) => {
      const value = kept.get(key(name));
      if (!value) throw new Fault('not_found', `there is no secret ${name}`);
      return value;
    },
    set: (_: string, name: string, value: Buffer) => void kept.set(key(name), value),
    remove: (_: string, name: string) => void kept.delete(key(name)),
    list: () =>
      [...kept.keys()]
        .filter((name) => name.startsWith(`${user}/`))
        .map((name) => ({ name: name.slice(user.length + 1), updatedAt: now(), sizeBytes: 1 })),
  };
}

function credentialsFor(user: string): UserCredentials {
  return new UserCredentials({ name: user, isOwner: user === 'ann' }, { store, secrets: secretsOf(user), now });
}

beforeEach(() => {
  store = createMemoryStore();
  kept = new Map([['ann/KEY', Buffer.from('value of ann')]]);
  credentials = credentialsFor('ann');
  refreshed = [];
  const refresh = async (id: string) => void refreshed.push(id);
  const parts = { store, secrets: secretsOf('ann'), sandboxSecrets: { rotate: () => true }, refresh, now } as never;
  userSecrets = new UserSecrets('ann', parts);
});

function insert(id: string, names: readonly string[]) {
  const spec = { ...sampleSpec, credentials: credentials.grants(names) };
  const name = `box-${id}`;
  const value = { id, name, createdAt: now(), spec, status: initialStatus };
  return store.insert(
    { kind: 'sandbox', id, owner: 'ann', name, value },
    { at: now(), type: 'x', subject: id, data: {} },
  );
}

const anthropic = { name: 'claude', preset: 'anthropic', secret: 'KEY' } as const;

describe('add', () => {
  it('records where the secret goes, and not its value', () => {
    const view = credentials.add(anthropic);
    expect(view).toEqual({
      ...{ name: 'claude', preset: 'anthropic', secret: 'KEY', createdAt: now() },
      services: [{ host: 'api.anthropic.com', port: 443, header: 'x-api-key', format: '{}' }],
    });
    expect(credentials.list()).toEqual([view]);
    expect(store.events(0, 10).map(({ type, data }) => [type, data])).toEqual([
      ['credential.added', { name: 'claude', user: 'ann' }],
    ]);
    expect(JSON.stringify([store.list('credential'), store.events(0, 10)])).not.toContain('value of ann');
  });

  it('refuses a name that is taken, a secret that does not exist, and a secret that no header can carry', () => {
    credentials.add(anthropic);
    expect(() => credentials.add(anthropic)).toThrow(expect.objectContaining({ code: 'conflict' }));
    expect(() => credentials.add({ ...anthropic, name: 'b', secret: 'NONE' })).toThrow(
      expect.objectContaining({ code: 'not_found' }),
    );
    kept.set('ann/KEY', Buffer.from('a\r\nx-evil: 1'));
    expect(() => credentials.add({ ...anthropic, name: 'b' })).toThrow(expect.objectContaining({ code: 'invalid' }));
    expect(credentials.list()).toHaveLength(1);
  });

  it('accepts an address of this machine or of a private network only from the owner', () => {
    kept.set('bob/KEY', Buffer.from('value of bob'));
    const near = { name: 'near', header: 'x-key', secret: 'KEY', host: '127.0.0.1:8443' };
    expect(credentials.add(near).services[0]).toMatchObject({ host: '127.0.0.1', port: 8443 });
    for (const host of ['127.0.0.1', '10.1.2.3', '[::1]', '169.254.169.254', '[::ffff:127.0.0.1]:80'])
      expect(() => credentialsFor('bob').add({ ...near, host })).toThrow(expect.objectContaining({ code: 'denied' }));
    expect(credentialsFor('bob').add({ ...near, host: '8.8.8.8' }).name).toBe('near');
  });

  it('makes a credential that no other user can see or use', () => {
    credentials.add(anthropic);
    const bob = credentialsFor('bob');
    expect(bob.list()).toEqual([]);
    for (const act of [() => bob.add(anthropic), () => bob.remove('claude'), () => bob.grants(['claude'])])
      expect(act).toThrow(expect.objectContaining({ code: 'not_found' }));
  });
});

describe('grants', () => {
  it('names each credential once, with its preset', () => {
    credentials.add(anthropic);
    expect(credentials.grants(['claude', 'claude'])).toEqual([{ name: 'claude', preset: 'anthropic' }]);
  });

  it('refuses two credentials for one host', () => {
    credentials.add(anthropic);
    credentials.add({ ...anthropic, name: 'other' });
    expect(() => credentials.grants(['claude', 'other'])).toThrow(/claude and other are both for api.anthropic.com/);
  });
});

describe('remove', () => {
  it('is refused while a sandbox has the credential, whose secret cannot be removed before it', () => {
    credentials.add(anthropic);
    expect(() => userSecrets.remove('KEY')).toThrow(/used by the credential claude/);
    const row = insert('0123456789abcdef', ['claude']);
    expect(() => credentials.remove('claude')).toThrow(/used by box-0123456789abcdef/);
    store.remove(row, { at: now(), type: 'x', subject: row.id, data: {} });
    expect(credentials.remove('claude').name).toBe('claude');
    expect(() => credentials.remove('claude')).toThrow(expect.objectContaining({ code: 'not_found' }));
    userSecrets.remove('KEY');
  });
});

describe('the secret of a credential', () => {
  it('is not changed to a value that no header can carry', async () => {
    credentials.add(anthropic);
    await expect(userSecrets.set('KEY', Buffer.from('two\nlines'))).rejects.toThrow(/cannot be the value of a header/);
    expect(kept.get('ann/KEY')?.toString()).toBe('value of ann');
  });

  it('is sent to the proxy again, when it changes, for the sandboxes that have the credential', async () => {
    credentials.add(anthropic);
    credentials.add({ name: 'other', header: 'x-key', secret: 'KEY', host: 'b.org' });
    kept.set('ann/FREE', Buffer.from('x'));
    insert('0000000000000001', ['claude']);
    insert('0000000000000002', ['other', 'claude']);
    insert('0000000000000003', []);
    await userSecrets.set('FREE', Buffer.from('y'));
    expect(refreshed).toEqual([]);
    await userSecrets.set('KEY', Buffer.from('another'));
    expect(refreshed).toEqual(['0000000000000001', '0000000000000002']);
  });
});
