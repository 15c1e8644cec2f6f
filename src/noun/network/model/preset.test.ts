import { expect, test } from 'vitest';
import { canonicalRule } from './network.ts';
import { defaultPresets, expandPresets, presetsWith } from './preset.ts';

test('expandPresets replaces names of presets by hosts, keeps other rules, and removes repetitions', () => {
  const presets = presetsWith({});
  expect(expandPresets(['anthropic', 'example.com:8080', 'anthropic'], presets)).toEqual([
    'api.anthropic.com',
    'example.com:8080',
  ]);
  expect(expandPresets(['toString', 'npm:443'], presets)).toEqual(['toString', 'npm:443']);
});

test('a preset of the owner replaces the default one, and dev contains all presets', () => {
  const presets = presetsWith({ npm: ['npm.corp.example'], corp: ['git.corp.example'] });
  expect(presets.npm).toEqual(['npm.corp.example']);
  expect(presets.dev).toEqual(expect.arrayContaining(['npm.corp.example', 'git.corp.example', 'pypi.org']));
  expect(presets.dev).not.toContain('registry.npmjs.org');
  expect(presetsWith({ dev: ['one.example'] }).dev).toEqual(['one.example']);
});

test('every host of a preset is a rule in its canonical spelling', () => {
  for (const rule of Object.values(defaultPresets).flat()) expect(canonicalRule(rule)).toBe(rule);
});
