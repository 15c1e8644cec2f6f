import { describe, expect, it } from 'vitest';
import { isFault } from '../../model/fault.ts';
import { readYaml } from './yaml.ts';

function refusal(text: string): string {
  try {
    readYaml(text, 'f.yaml');
  } catch (error) {
    if (isFault(error, 'invalid')) return error.message;
    throw error;
  }
  throw new Error('it was taken');
}

it('readYaml gives the position of every value', () => {
  const text = 'name: x\nsandboxes:\n  "a b":\n    command: [one,\n      two]\n  c: {env: {K: v}}\n';
  const { content, locate } = readYaml(text, 'f.yaml');
  expect(content).toEqual({ name: 'x', sandboxes: { 'a b': { command: ['one', 'two'] }, c: { env: { K: 'v' } } } });
  for (const [place, position] of [
    [[], 'f.yaml:1:1'],
    [['name'], 'f.yaml:1:1'],
    [['sandboxes'], 'f.yaml:2:1'],
    [['sandboxes', 'a b'], 'f.yaml:3:3'],
    [['sandboxes', 'a b', 'command', 1], 'f.yaml:5:7'],
    [['sandboxes', 'c', 'env', 'K'], 'f.yaml:6:13'],
    [['sandboxes', 'c', 'nothing', 'there'], 'f.yaml:6:3'],
  ] as const)
    expect([place, locate(place).text]).toEqual([place, position]);
});

it('an empty file has no content', () => {
  for (const text of ['', '\n', '# only words\n']) expect(readYaml(text, 'f.yaml').content).toBeNull();
});

describe('readYaml refuses, with line and column,', () => {
  it.each([
    ['a: [1\nb: 2\n', 'f.yaml:2:1'],
    ['a: 1\na: 2\n', 'f.yaml:2:1: Map keys must be unique'],
    ['a: "x\n', 'f.yaml:2:1: Missing closing "quote'],
    ['a:\n\tb: 1\n', 'f.yaml:2:1'],
    ['a: &x 1\nb: *x\n', 'f.yaml:2:4: aliases are not taken'],
    ['a: &x {b: 1}\nc: {<<: *x}\n', 'f.yaml:2:9: aliases are not taken'],
    ['a: !!binary aGk=\n', 'f.yaml:1:13: tags are not taken'],
    ['a: !!str 1\n', 'f.yaml:1:'],
    ['__proto__: {}\n', 'f.yaml:1:1: this cannot be a key'],
    ['? [a]\n: b\n', 'f.yaml:1:3: this cannot be a key'],
    ['a: {null: 1}\n', 'f.yaml:1:5: this cannot be a key'],
    ['a: !evil x\n', 'f.yaml:1:4'],
    ['a: 1\n---\nb: 2\n', 'f.yaml:2:1: a second document begins here'],
  ])('%j', (text, expected) => {
    expect(refusal(text)).toContain(expected);
  });

  const size = 20_000;
  it.each([
    ['brackets', '['.repeat(size)],
    ['braces', '{'.repeat(size)],
    ['lists', '- '.repeat(size / 2)],
    ['keys', '? '.repeat(size / 2)],
    ['a key in a key', 'a: '.repeat(size / 3)],
    ['both', '[{a: '.repeat(size / 5)],
    ['by lines', Array.from({ length: 300 }, (_, index) => `${' '.repeat(index)}a:`).join('\n')],
  ])('nesting past the limit: %s', (_, text) => {
    expect(refusal(text)).toMatch(/^f\.yaml:\d+:\d+: nested deeper than 20 levels$/);
  });

  it('aliases of aliases', () => {
    const lines = Array.from(
      { length: 30 },
      (_, index) => `a${index}: &a${index} [${index === 0 ? 'x' : `*a${index - 1}, *a${index - 1}`}]`,
    );
    expect(refusal(lines.join('\n'))).toContain('aliases are not taken');
  });
});
