import { expect, it } from 'vitest';
import { mergeSettings } from './merge-settings.ts';

it('mergeSettings joins objects and lists, and takes single values from its second argument', () => {
  const below = {
    theme: 'light',
    keys: ['a'],
    projects: { '/other': { trust: false }, '/workspace': { trust: false } },
  };
  const above = { keys: ['a', 'b'], projects: { '/workspace': { trust: true } } };
  expect(mergeSettings(below, above)).toEqual({
    theme: 'light',
    keys: ['a', 'b'],
    projects: { '/other': { trust: false }, '/workspace': { trust: true } },
  });
});
