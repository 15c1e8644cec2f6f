// @reads sources
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Numbered rules, such as `- **R12** …`. */
const formats = { 'room.md': 'R', 'session.md': 'S' };

const files = ['src', 'test'].flatMap((top) =>
  readdirSync(top, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts') || (top === 'test' && /^(e2e|conformance)\/.*\.ts$/.test(path)))
    .map((path) => readFileSync(join(top, path), 'utf8')),
);

/** The numbers at the beginning of titles: `R3, R4: …` and `S2 …` */
function tested(letter: string): ReadonlySet<string> {
  const titles = new RegExp(`['"\`](${letter}\\d+(?:, ${letter}\\d+)*)(?=[: '"\`])`, 'g');
  return new Set(files.flatMap((text) => [...text.matchAll(titles)].flatMap(([, numbers]) => numbers!.split(', '))));
}

describe.each(Object.entries(formats))('docs/formats/%s', (name, letter) => {
  const text = readFileSync(`docs/formats/${name}`, 'utf8');
  const rules = [...text.matchAll(new RegExp(`^- \\*\\*(${letter}\\d+)\\*\\*`, 'gm'))].map(([, rule]) => rule!);

  it('has rules that are numbered without a gap', () => {
    expect(rules.length).toBeGreaterThan(10);
    const sorted = rules.map((rule) => Number(rule.slice(1))).sort((a, b) => a - b);
    expect(sorted).toEqual(sorted.map((_, at) => at + 1));
  });

  it('has a test for each rule, whose title begins with its number', () => {
    const known = tested(letter);
    expect(rules.filter((rule) => !known.has(rule))).toEqual([]);
  });
});
