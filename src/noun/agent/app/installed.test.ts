import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { installVolume } from '../model/agent.ts';
import { installedVersion } from './installed.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-installed-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const volumes = {
  list: () => [
    { name: 'cache', label: 'cache' },
    { name: 'programs', label: installVolume },
  ],
};
const version = (agent: string) => installedVersion(volumes, (name) => join(folder, name), agent);

it('the version of an agent is the target of its link, if that is a version', () => {
  mkdirSync(join(folder, 'programs/claude'), { recursive: true });
  symlinkSync('2.1.0', join(folder, 'programs/claude/current'));
  mkdirSync(join(folder, 'programs/codex'));
  symlinkSync('/etc', join(folder, 'programs/codex/current'));
  expect(['claude', 'codex', 'gemini'].map(version)).toEqual(['2.1.0', null, null]);
});

it('a folder of an agent that is a link is not followed', () => {
  mkdirSync(join(folder, 'elsewhere'), { recursive: true });
  symlinkSync('2.1.0', join(folder, 'elsewhere/current'));
  mkdirSync(join(folder, 'programs'));
  symlinkSync(join(folder, 'elsewhere'), join(folder, 'programs/claude'));
  expect(version('claude')).toBeNull();
});

it('without a volume for programs no agent is installed', () => {
  expect(installedVersion({ list: () => [] }, () => folder, 'claude')).toBeNull();
});
