/**
 * Marks: lines `// @…` at the top of a test file, before anything else. They say when the file runs, and in what order; the
 * configuration of vitest and `npm run quick` read them.
 *
 * - `// @needs root`: left out unless the account is root of the machine, since the file makes accounts, or attacks from both sides.
 * - `// @needs all`: left out without `CARREL_TEST_ALL=1`, since the file takes minutes and repeats what others test.
 * - `// @needs first-node`: left out where CI runs tests on a second Node, since the file tests another program below the same code.
 * - `// @takes 40 s`: about as long in a whole run. Files with it begin before those without, the longest first.
 * - `// @reads sources`: reads sources or documents as text, so `npm run quick` runs it after any edit.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const needs = ['root', 'all', 'first-node'] as const;
export type Need = (typeof needs)[number];

export interface Marks {
  readonly needs: readonly Need[];
  /** Zero: the file has no such mark. */
  readonly takesSeconds: number;
  readonly readsSources: boolean;
}

/** Throws for an unknown mark, one that is repeated, and one that is not at the top. */
export function readMarks(path: string, source: string): Marks {
  const lines = source.split('\n');
  const end = lines.findIndex((line) => !line.startsWith('// @'));
  const marks = lines.slice(0, Math.max(end, 0)).map((line) => line.slice('// @'.length));
  const refuse = (line: string, why: string) =>
    new Error(`${path}: mark "// @${line}": ${why}; test/marks.ts has them`);
  const late = lines.slice(marks.length).find((line) => line.startsWith('// @'));
  if (late !== undefined) throw refuse(late.slice('// @'.length), 'not at the top of the file');
  for (const [at, mark] of marks.entries()) {
    if (!isMark(mark)) throw refuse(mark, 'unknown');
    if (marks.indexOf(mark) < at) throw refuse(mark, 'repeated');
  }
  return {
    needs: needs.filter((need) => marks.includes(`needs ${need}`)),
    takesSeconds: Math.max(0, ...marks.map((mark) => Number(takes.exec(mark)?.[1] ?? 0))),
    readsSources: marks.includes('reads sources'),
  };
}

const takes = /^takes ([1-9]\d*) s$/;

function isMark(text: string): boolean {
  return takes.test(text) || text === 'reads sources' || needs.some((need) => text === `needs ${need}`);
}

/** The marks of all test files below a folder, by path. */
export function marksBelow(folder: string): ReadonlyMap<string, Marks> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(folder, name));
  return new Map(paths.sort().map((path) => [path, readMarks(path, readFileSync(path, 'utf8'))]));
}
