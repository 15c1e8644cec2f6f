import { expect, test } from 'vitest';
import { credentialListing } from '../../network/cli/credential-commands.ts';
import type { UserView } from '../../user/api.ts';
import { instructions, userListing } from '../../user/cli/commands.ts';
import { secretListing } from '../../user/cli/secret-commands.ts';
import type { VolumeStatusView } from '../api.ts';
import { cleaned, forecast } from './clean.ts';
import { migrated } from './commands.ts';
import { backupListing, volumeListing } from './ls.ts';
import { volumeUsage } from './status.ts';

const createdAt = '2026-01-01T00:00:00Z';
const now = Date.parse('2026-01-01T02:00:00Z');
const volume: VolumeStatusView = {
  ...{
    name: 'carrel-home-0123abcd',
    type: 'home',
    label: null,
    user: 'bob',
    createdAt,
    lastUsedAt: '2026-01-01T01:59:00Z',
  },
  ...{ migratedFrom: null, sizeBytes: 3 * 1024 ** 2, mountedBy: ['a', 'eve/\u001b'], stale: false },
};
const shared: VolumeStatusView = {
  ...{ ...volume, name: 'carrel-chromadb', type: 'chromadb', user: null, lastUsedAt: null },
  ...{ sizeBytes: null, mountedBy: [], stale: true },
};

test('volume ls shows the label of a named volume instead of its name', () => {
  const named = { ...volume, name: 'carrel-named-0123abcd-cache', type: 'named', label: 'cache' };
  expect(volumeListing([volume, shared, named], now)).toEqual([
    'NAME                  TYPE      OWNER   AGE  LAST USE',
    'carrel-home-0123abcd  home      bob     2h   1m ago',
    'carrel-chromadb       chromadb  shared  2h   never',
    'cache                 named     bob     2h   1m ago',
  ]);
});

test('volume ls --backups shows the file that restore takes', () => {
  const backup = {
    name: volume.name,
    type: 'home',
    label: null,
    user: 'bob',
    createdAt,
    sizeBytes: 2048,
    file: '/b/a\n.tar',
  };
  expect(backupListing([backup], now)).toEqual([
    'VOLUME  OWNER  SIZE  AGE  FILE',
    'home    bob    2.0K  2h   /b/a\\n.tar',
  ]);
});

test('volume status shows sizes and the sandboxes that use a volume, and marks stale volumes', () => {
  expect(volumeUsage([volume, shared], now)).toEqual([
    'NAME                  TYPE      OWNER   SIZE  USED BY        LAST USE',
    'carrel-home-0123abcd  home      bob     3.0M  a, eve/\\u001b  1m ago',
    'carrel-chromadb       chromadb  shared  -     -              never (stale)',
  ]);
});

test('volume clean lists the volumes that it would remove, has removed or keeps', () => {
  const kept = [{ name: 'c', mountedBy: ['x', 'y'] }];
  const plan = { removed: [{ name: 'a', sizeBytes: 2048, backup: null }], kept };
  expect(forecast(plan, true)).toEqual(['would remove a (2.0K) after a backup', 'kept c, in use: x, y']);
  expect(forecast(plan, false)[0]).toBe('would remove a (2.0K) without a backup');
  const removed = [
    { name: 'a', sizeBytes: 2048, backup: '/b/a\n.tar' },
    { name: 'b', sizeBytes: null, backup: null },
  ];
  expect(cleaned({ removed, kept })).toEqual([
    'removed a (2.0K); backup in /b/a\\n.tar',
    'removed b',
    'kept c, in use: x, y',
  ]);
});

test('volume migrate lists the volumes that it copied, also by an earlier run', () => {
  const one = { from: 'hal9000-home\n', to: 'carrel-home-1', already: false };
  expect(migrated({ migrated: [one, { ...one, already: true }], left: [] })).toEqual([
    'hal9000-home\\n → carrel-home-1',
    'hal9000-home\\n → carrel-home-1 (earlier)',
  ]);
});

test('user ls marks the owner', () => {
  const owner: UserView = { name: 'me', slot: 0, createdAt, uid: null, isOwner: true, sandboxes: 3 };
  const bob: UserView = { ...owner, name: 'bob', slot: 12, uid: 1001, isOwner: false, sandboxes: 0 };
  expect(userListing([owner, bob], now)).toEqual([
    'NAME        SLOT  ACCOUNT  SANDBOXES  CREATED',
    'me (owner)  0     -        3          2h ago',
    'bob         12    1001     0          2h ago',
  ]);
});

test('user add prints how the user connects', () => {
  const closed = instructions('bob', null, '/h').join('\n');
  expect(closed).toContain('CARREL_SOCKET=SOCKET CARREL_TOKEN_FILE=FILE');
  expect(closed).toContain('/h/config.yaml');
  const open = instructions('bob', '/run/carrel.sock', '/h').join('\n');
  expect(open).toContain('CARREL_SOCKET=/run/carrel.sock CARREL_TOKEN_FILE=FILE');
  expect(open).not.toContain('config.yaml');
});

test('credential ls has a line for each host', () => {
  const service = { host: 'api.github.com', port: 443, header: 'authorization', format: 'Bearer {}' };
  const services = [service, { ...service, host: '::1', port: 8443, format: '\u001b{}' }];
  expect(credentialListing([{ name: 'gh', preset: 'github', secret: 'KEY', services, createdAt }], now)).toEqual([
    'NAME  HOST            HEADER                    SECRET  ADDED',
    'gh    api.github.com  authorization: Bearer {}  KEY     2h ago',
    'gh    [::1]:8443      authorization: \\u001b{}   KEY     2h ago',
  ]);
});

test('secret ls shows sizes and ages, not values', () => {
  expect(secretListing([{ name: 'API_KEY', sizeBytes: 40, updatedAt: createdAt }], now)).toEqual([
    'NAME     SIZE  CHANGED',
    'API_KEY  40B   2h ago',
  ]);
});
