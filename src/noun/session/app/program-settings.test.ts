import { createHash } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { sampleSpec } from '../../../../test/fixtures/sandbox.ts';
import { initialStatus, type Sandbox } from '../../sandbox/model.ts';
import { ProgramSettings } from './program-settings.ts';

const hash = (text: string) => createHash('sha256').update(text).digest('hex');
const box = (id: string, user = 'ann'): Sandbox => ({
  ...{ id, name: 'box', createdAt: '', status: initialStatus },
  spec: { ...sampleSpec, user },
});

let hashes: string[];
let settings: ProgramSettings;
beforeEach(() => {
  hashes = [];
  settings = new ProgramSettings({
    config: { agents: {} },
    keys: { ensure: (user) => Buffer.from(`key of ${user}`) },
    agentServers: { of: () => ({ servers: [], skipped: [] }) },
    tokensOf: () => ({ hashes: () => hashes }),
  });
});

test('each sandbox and each user has another token, and the same one after a restart', () => {
  const tokens = [box('1'), box('2'), box('1', 'bob')].map((one) => settings.tokenOf(one));
  expect(new Set(tokens).size).toBe(3);
  expect(settings.tokenOf(box('1'))).toBe(tokens[0]);
});

test('the sandbox gets the hash of the token of the daemon, first, and hashes of the hashes of other tokens', () => {
  hashes = [hash('of a client')];
  expect(settings.of(box('1')).tokens).toEqual([hash(settings.tokenOf(box('1'))), hash(hash('of a client'))]);
  const sent = JSON.stringify(settings.of(box('1')));
  expect(sent).not.toContain(settings.tokenOf(box('1')));
  expect(sent).not.toContain(hash('of a client'));
});

test('a new token changes the version of the settings', () => {
  const { version } = settings.of(box('1'));
  expect(settings.of(box('1')).version).toBe(version);
  hashes = [hash('of a client')];
  expect(settings.of(box('1')).version).not.toBe(version);
});
