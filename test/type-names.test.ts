// @reads sources
/** One name for one thing: readers search for a name and find what it is. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const declaration = /^export (?:declare )?(?:abstract )?(?:interface|type|class) (\w+)/gm;

/** Names of exported types that several files declare, with these files. */
function repeatedNames(files: ReadonlyMap<string, string>): string[] {
  const places = new Map<string, string[]>();
  for (const [path, source] of files) {
    const names = new Set([...source.matchAll(declaration)].map(([, name]) => name!));
    for (const name of names) places.set(name, [...(places.get(name) ?? []), path]);
  }
  return [...places].filter(([, paths]) => paths.length > 1).map(([name, paths]) => `${name}: ${paths.join(', ')}`);
}

test('the check finds interfaces, types and classes with one name in several files', () => {
  const files = new Map([
    ['a.ts', 'export interface Plan {}\nexport type Step = 1;\ninterface Own {}'],
    ['b.ts', 'export class Plan {}\nexport abstract class Step {}\ninterface Own {}'],
    ['c.ts', 'export interface Other {}\nexport const Other = 1;\nexport { type Plan } from "./a.ts";'],
  ]);
  expect(repeatedNames(files)).toEqual(['Plan: a.ts, b.ts', 'Step: a.ts, b.ts']);
});

test('each exported type of the code has a name that no other one has', () => {
  const paths = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => `src/${path}`);
  expect(paths.length).toBeGreaterThan(1000);
  expect(repeatedNames(new Map(paths.map((path) => [path, readFileSync(path, 'utf8')])))).toEqual([]);
});
