import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { presetsWith } from '../model/preset.ts';
import { hostRegistries, presetsFor, withRegistries } from './host-registry.ts';

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'carrel-registry-'));
});
afterAll(() => rmSync(home, { recursive: true }));

function put(name: string, text: string): string {
  const path = join(home, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

test('registries of npm, pip and cargo are found, and nothing but their hosts', () => {
  const npm = put(
    '.npmrc',
    '# registry=https://no.example\nregistry=https://user:s3cret@npm.corp.example/x/\n@corp:registry = http://npm2.corp.example:4873\n//npm.corp.example/:_authToken=s3cret\n',
  );
  const pip = put(
    '.config/pip/pip.conf',
    '[global]\nindex-url = https://__token__:s3cret@pip.corp.example/simple\nextra-index-url =\n  https://a.corp.example/s\n  https://b.corp.example/s\n',
  );
  const cargo = put(
    '.cargo/config.toml',
    '[registries.corp]\nindex = "sparse+https://crates.corp.example/index/"\ntoken = "s3cret"\n[source.x]\nregistry = \'https://git.corp.example/i\'\n',
  );
  const found = hostRegistries(home).filter(({ file }) => file.startsWith(home));
  expect(found).toEqual([
    { preset: 'npm', rule: 'npm.corp.example', file: npm },
    { preset: 'npm', rule: 'npm2.corp.example:4873', file: npm },
    { preset: 'pypi', rule: 'pip.corp.example', file: pip },
    { preset: 'pypi', rule: 'a.corp.example', file: pip },
    { preset: 'pypi', rule: 'b.corp.example', file: pip },
    { preset: 'crates', rule: 'crates.corp.example', file: cargo },
    { preset: 'crates', rule: 'git.corp.example', file: cargo },
  ]);
  expect(JSON.stringify(found)).not.toContain('s3cret');
});

test('invalid addresses, other protocols and files that are too large give no registries', () => {
  put('.npmrc', `registry=\${REGISTRY}\n@a:registry=file:///etc\nregistry=https://\n`);
  put('.config/pip/pip.conf', `index-url = https://x.example\n${'#'.repeat(300_000)}`);
  put('.cargo/config.toml', 'index = https://bare.example\n');
  expect(hostRegistries(home).filter(({ file }) => file.startsWith(home))).toEqual([]);
});

test('registries join their preset and dev, unless config.yaml defines the preset', () => {
  const registries = [
    { preset: 'npm', rule: 'npm.corp.example', file: '.npmrc' },
    { preset: 'pypi', rule: 'pip.corp.example', file: 'pip.conf' },
  ];
  const all = withRegistries(presetsWith({}), [], registries);
  expect(all.npm).toEqual(['registry.npmjs.org', 'registry.yarnpkg.com', 'npm.corp.example']);
  expect(all.dev).toEqual(expect.arrayContaining(['npm.corp.example', 'pip.corp.example']));
  const own = withRegistries(presetsWith({ npm: ['one.example'] }), ['npm'], registries);
  expect(own.npm).toEqual(['one.example']);
  expect(own.dev).not.toContain('npm.corp.example');
  expect(own.pypi).toContain('pip.corp.example');
});

test('presets have the registries of the owner only for the owner', () => {
  put('.npmrc', 'registry=https://npm.corp.example/\n');
  vi.stubEnv('HOME', home);
  const network = { presets: presetsWith({}), ownPresets: [] };
  const npmOf = (name: string) => presetsFor({ name, isOwner: name === 'ann' }, network).npm;
  expect([npmOf('ann')?.includes('npm.corp.example'), npmOf('bob')]).toEqual([true, network.presets.npm]);
  vi.unstubAllEnvs();
});
