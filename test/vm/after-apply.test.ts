/** After a power cut in the middle of an apply the project has all of it or nothing. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { carrelAt, halfway } from './machine.ts';

const { project, home, names, before, after } = halfway;
const carrel = carrelAt(home, null);

const texts = (): string[] => [...new Set(names.map((name) => readFileSync(join(project, name), 'utf8')))];

it('is whole, and can be done again and undone', () => {
  carrel('ls');
  const [text, ...others] = texts();
  expect(others).toEqual([]);
  expect([before, after]).toContain(text);
  expect(readdirSync(project).sort()).toEqual([...names].sort());
  const changed = carrel('diff', '--name-status', 'many').trim();
  expect(changed.split('\n')).toHaveLength(text === before ? names.length : 1);
  if (text === before) carrel('apply', 'many');
  expect(texts()).toEqual([after]);
  carrel('undo', 'many');
  expect(texts()).toEqual([before]);
  expect(readdirSync(project).sort()).toEqual([...names].sort());
  carrel('down', '--all');
});
