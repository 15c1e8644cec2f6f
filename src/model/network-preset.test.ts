import { expect, test } from 'vitest';
import { canonicalRule } from './network.ts';
import { defaultPresets, expandPresets, presetsWith } from './network-preset.ts';

test('names become hosts, other rules stay, and each is there once', () => {
  const presets = presetsWith({});
  expect(expandPresets(['anthropic', 'example.com:8080', 'anthropic'], presets)).toEqual([
    'api.anthropic.com',
    'example.com:8080',
  ]);
  expect(expandPresets(['toString', 'npm:443'], presets)).toEqual(['toString', 'npm:443']);
});

test('the owner replaces a preset, and dev has all of them', () => {
  const presets = presetsWith({ npm: ['npm.corp.example'], corp: ['git.corp.example'] });
  expect(presets.npm).toEqual(['npm.corp.example']);
  expect(presets.dev).toEqual(expect.arrayContaining(['npm.corp.example', 'git.corp.example', 'pypi.org']));
  expect(presets.dev).not.toContain('registry.npmjs.org');
  expect(presetsWith({ dev: ['one.example'] }).dev).toEqual(['one.example']);
});

test('every host of a preset is a rule in its canonical spelling', () => {
  for (const rule of Object.values(defaultPresets).flat()) expect(canonicalRule(rule)).toBe(rule);
});
