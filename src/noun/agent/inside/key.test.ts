import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { agentPresets } from '../model/table.ts';
import { findKey, keyEnv, refuseKeys } from './key.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-key-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const codex = agentPresets.codex!;

test('the key in the secret is preferred to a variable of the sandbox', () => {
  writeFileSync(join(folder, 'OPENAI_API_KEY'), 'hidden\n');
  const key = findKey(codex, { CODEX_API_KEY: 'placeholder' }, folder);
  expect(key).toEqual({ variable: 'CODEX_API_KEY', file: join(folder, 'OPENAI_API_KEY'), value: null });
  expect(keyEnv(key)).toEqual({ CODEX_API_KEY: 'hidden' });
});

test.each(['CODEX_API_KEY', 'OPENAI_API_KEY'])('without the secret the key comes from the variable %s', (name) => {
  expect(keyEnv(findKey(codex, { [name]: 'placeholder' }, folder))).toEqual({ CODEX_API_KEY: 'placeholder' });
});

test('an agent whose key is missing is refused with the name of the variable', () => {
  expect(() => findKey(codex, {}, folder)).toThrow(
    expect.objectContaining({ code: 'MISSING_ENV_VAR', message: expect.stringContaining('CODEX_API_KEY') }),
  );
  expect(findKey({ kind: 'command', command: ['x'] }, {}, folder)).toBeNull();
});

const request = { taskFilePath: 'a.json', branchName: 'b' };

test.each(['ANTHROPIC_API_KEY', 'GH_TOKEN', 'LD_PRELOAD', 'NODE_OPTIONS', 'PATH', 'GIT_DIR', 'CARREL_SANDBOX'])(
  'a task request that sets the variable %s is refused',
  (name) => {
    expect(() => refuseKeys({ ...request, envVars: { [name]: 'x' } })).toThrow(`payload.envVars.${name}`);
  },
);

test('a task request whose repository URL contains a password is refused', () => {
  expect(() => refuseKeys({ ...request, repoUrl: 'https://me:pass@host/r.git' })).toThrow('payload.repoUrl');
  for (const repoUrl of ['https://host/r.git', 'https://me@host:8443/r.git', 'git@host:r.git'])
    expect(() => refuseKeys({ ...request, repoUrl, envVars: { CI: '1' } })).not.toThrow();
});
