// @takes 35 s
/** The commands of the README and of docs/tour.md, as they stand there, for root and for an ordinary user. */
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { Installation } from '../harness/installation.ts';
import { isRealRoot } from '../harness/machine.ts';
import { createRootlessAccount } from '../harness/rootless.ts';
import { type Fence, fences } from '../shown-commands.ts';

interface Step {
  readonly script: string;
  readonly output: string;
}

const readme = fences(readFileSync('README.md', 'utf8'));
const tour = fences(readFileSync('docs/tour.md', 'utf8'));
/** Commands that other tests run: `demo.test.ts`, `new-user.test.ts`, and the complete run. */
const elsewhere = ['./setup && bin/carrel demo\n', 'carrel claude .\n', './setup && npm test\n'];

/** Each `sh` block with the block of output after it. */
function stepsOf(blocks: readonly Fence[]): Step[] {
  return blocks.flatMap(({ language, text }, index) =>
    language === 'sh' && !elsewhere.includes(text) ? [{ script: text, output: blocks[index + 1]!.text }] : [],
  );
}

/** Numbers and widths of columns differ from run to run. */
function shape(text: string): string[] {
  return text
    .trim()
    .split('\n')
    .map((line) => line.replace(/\d+/g, '0').replace(/\s+/g, ' ').trim());
}

const mark = '---- next block ----';

describe.each(isRealRoot ? ['root', 'an ordinary user'] : ['an ordinary user'])('as %s', (who) => {
  const account = isRealRoot && who !== 'root' ? createRootlessAccount() : null;
  const carrel = new Installation(account);
  afterAll(async () => {
    await carrel.dispose();
    account?.dispose();
  });

  it.each([
    ['README.md', readme, 1],
    ['docs/tour.md', tour, 8],
  ] as const)('each block of %s prints what the page shows', async (name, blocks, least) => {
    const steps = stepsOf(blocks);
    const script = ['exec 2>&1', ...steps.map((step) => `${step.script}echo '${mark}'`)].join('\n');
    const { stdout } = await carrel.shell(script, carrel.folder(name.replace(/\W/g, '')));
    const outputs = stdout.split(`${mark}\n`).slice(0, steps.length);
    expect(steps.length).toBeGreaterThanOrEqual(least);
    expect(outputs.map(shape)).toEqual(steps.map(({ output }) => shape(output)));
  });
});

it('the README has at most 150 lines, and shows its commands in the expected order', () => {
  expect(readFileSync('README.md', 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(150);
  const shown = readme.filter(({ language }) => language === 'sh').map(({ text }) => text.split('\n')[0]!);
  const [demo, claude, test] = elsewhere.map((text) => text.trimEnd());
  expect(shown).toEqual([demo, claude, 'mkdir hello && cd hello', test]);
});

it('the README says what it is and has a picture before its sections', () => {
  const [intro, ...sections] = readFileSync('README.md', 'utf8').split(/^## /m);
  expect(intro).toMatch(/^# Carrel\n\nCarrel runs [\s\S]*```\n {2}your project /);
  const titles = sections.map((section) => section.split('\n')[0]);
  expect(titles.slice(0, 3)).toEqual(['Two commands', 'Your agent', 'The review']);
  expect(titles).toContain('Read on');
});
