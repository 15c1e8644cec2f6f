import { beforeEach, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../../../test/fakes/store/memory.ts';
import { sampleSpec } from '../../../../../test/fixtures/sandbox.ts';
import type { Store } from '../../../../kernel/store/store.ts';
import { initialStatus, type SandboxSpec, type SandboxStatus } from '../../../sandbox/model.ts';
import type { SecretInfo } from '../../model.ts';
import { UserSecrets } from './user-secrets.ts';

const event = { at: '', type: 'test', subject: '', data: {} };
const ended: Partial<SandboxStatus> = { state: 'stopped' };
const running: Partial<SandboxStatus> = { state: 'running' };

let store: Store;
/** Values by USER/NAME. */
let kept: Map<string, Buffer>;
let acts: string[];
let known: (id: string) => boolean;
beforeEach(() => {
  store = createMemoryStore();
  kept = new Map();
  acts = [];
});

function secretsOf(user: string): UserSecrets {
  const list = (of: string): SecretInfo[] =>
    [...kept]
      .filter(([key]) => key.startsWith(`${of}/`))
      .map(([key, { length }]) => ({ name: key.slice(of.length + 1), updatedAt: 'now', sizeBytes: length }));
  return new UserSecrets(user, {
    store,
    now: () => '',
    refresh: async (id) => void acts.push(`refresh ${id}`),
    secrets: {
      list,
      set: (of, name, value) => void kept.set(`${of}/${name}`, Buffer.from(value)),
      remove: (of, name) => void kept.delete(`${of}/${name}`),
      read: (of, name) => kept.get(`${of}/${name}`)!,
      containing: (of, ...texts) =>
        list(of).find(({ name }) => texts.some((text) => text.includes(kept.get(`${of}/${name}`)!.toString())))?.name ??
        null,
    },
    sandboxSecrets: {
      put: () => {},
      rotate: (id, name, value) => acts.push(`rotate ${id} ${name} ${Buffer.from(value)}`) > 0,
      remove: () => {},
      sweep: (isKnown) => {
        known = isKnown;
      },
    },
  });
}

function sandbox(id: string, owner: string, spec: Partial<SandboxSpec>, status: Partial<SandboxStatus> = running) {
  const value = {
    ...{ id, name: id, createdAt: '', endedAt: null },
    spec: { ...sampleSpec, user: owner, ...spec },
    status: { ...initialStatus, ...status },
  };
  store.insert({ kind: 'sandbox', id, owner, name: id, value: value as never }, event);
}

function credential(name: string, secret: string, header = 'authorization') {
  const service = { host: 'h.test', port: 443, header, format: 'Bearer {}' };
  const value = { name, preset: null, secret, services: [service] as const, createdAt: '' };
  store.insert({ kind: 'credential', id: `id-${name}`, owner: 'ann', name, value: value as never }, event);
}

describe('a new value', () => {
  it('reaches running sandboxes of the user that have the secret, and no others', async () => {
    sandbox('has', 'ann', { secrets: ['token'] });
    sandbox('stopped', 'ann', { secrets: ['token'] }, ended);
    sandbox('other', 'ann', { secrets: ['another'] });
    sandbox('none', 'ann', {});
    sandbox('bobs', 'bob', { secrets: ['token'] });
    expect(await secretsOf('ann').set('token', Buffer.from('v'))).toMatchObject({ name: 'token', sizeBytes: 1 });
    expect(acts).toEqual(['rotate has token v']);
  });

  it('reaches sandboxes with a credential that carries it', async () => {
    credential('key', 'token');
    sandbox('uses', 'ann', { credentials: [{ name: 'key', preset: null }] });
    sandbox('uses-another', 'ann', { credentials: [{ name: 'else', preset: null }] });
    await secretsOf('ann').set('token', Buffer.from('v'));
    expect(acts).toEqual(['refresh uses']);
  });

  it('that cannot be a header is refused before anything is kept or sent', async () => {
    credential('key', 'token');
    sandbox('has', 'ann', { secrets: ['token'], credentials: [{ name: 'key', preset: null }] });
    const refused = await secretsOf('ann')
      .set('token', Buffer.from('two\nlines'))
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'invalid' });
    expect(JSON.stringify(refused)).not.toContain('lines');
    expect([kept.size, acts]).toEqual([0, []]);
  });
});

describe('a secret', () => {
  it('is removed only if no sandbox and no credential of the user has it', () => {
    kept.set('ann/token', Buffer.from('v')).set('bob/token', Buffer.from('w'));
    sandbox('holder', 'ann', { secrets: ['token'] }, ended);
    const ann = secretsOf('ann');
    expect(() => ann.remove('token')).toThrow('the secret token is granted to holder');
    store.remove(store.get('sandbox', 'holder')!, event);
    credential('key', 'token');
    expect(() => ann.remove('token')).toThrow('used by the credential key');
    store.remove(store.get('credential', 'id-key')!, event);
    sandbox('bobs', 'bob', { secrets: ['token'] });
    expect(ann.remove('token')).toMatchObject({ name: 'token' });
    expect([...kept.keys()]).toEqual(['bob/token']);
    expect(() => ann.remove('token')).toThrow('no secret token');
  });

  it.each<[string, Partial<SandboxSpec> & { name?: string }, string]>([
    ['its name', { name: 'box-hidden' }, 'invalid'],
    ['its environment', { env: { KEY: 'x-hidden' } }, 'denied'],
    ['its command', { command: ['run', '--key=hidden'] }, 'denied'],
    ['the name of a label', { labels: { hidden: '' } }, 'denied'],
    ['a label', { labels: { a: 'hidden' } }, 'denied'],
    ['a rule of its network', { network: { allow: ['hidden.test'], ports: [] } as never }, 'denied'],
    ['the target of a volume', { volumes: [{ name: 'v', target: '/hidden', readonly: false }] }, 'denied'],
  ])('is refused in a sandbox by %s, and the message does not show it', (_, spec, code) => {
    kept.set('ann/token', Buffer.from('hidden'));
    const refusal = () => secretsOf('ann').refuseIn({ ...sampleSpec, ...spec });
    expect(refusal).toThrow(expect.objectContaining({ code }));
    expect(refusal).toThrow(/^(?!.*hidden).*token/);
    expect(() => secretsOf('bob').refuseIn({ ...sampleSpec, ...spec })).not.toThrow();
  });

  it('that the user does not have cannot be granted', () => {
    kept.set('bob/token', Buffer.from('v'));
    const spec = { ...sampleSpec, secrets: ['token'] };
    expect(() => secretsOf('ann').refuseIn(spec)).toThrow('no secret token');
    expect(() => secretsOf('bob').refuseIn(spec)).not.toThrow();
  });
});

it('a daemon that starts keeps in memory the secrets of sandboxes that have not ended', () => {
  sandbox('runs', 'ann', { secrets: ['a'] });
  sandbox('waits', 'bob', { secrets: ['a'] }, { state: 'pending' });
  sandbox('ended', 'ann', { secrets: ['a'] }, ended);
  secretsOf('ann').recover();
  expect(['runs', 'waits', 'ended', 'unknown'].map((id) => known(id))).toEqual([true, true, false, false]);
});
