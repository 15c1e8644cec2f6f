/** The tour of the README, as it stands there, for root and for an ordinary user. */
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { Installation } from '../harness/installation.ts';
import { isRealRoot } from '../harness/machine.ts';
import { createRootlessAccount } from '../harness/rootless.ts';
import { fences } from '../shown-commands.ts';

interface Step {
  readonly script: string;
  readonly output: string;
}

/** Each `sh` block with the block of output after it. */
function stepsOf(markdown: string): Step[] {
  const tour = /^## Tour$.*?^## /ms.exec(markdown)![0];
  const blocks = fences(tour);
  return blocks.flatMap(({ language, text }, index) =>
    language === 'sh' ? [{ script: text, output: blocks[index + 1]!.text }] : [],
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
const steps = stepsOf(readFileSync('README.md', 'utf8'));

describe.each(isRealRoot ? ['root', 'an ordinary user'] : ['an ordinary user'])('as %s', (who) => {
  const account = isRealRoot && who !== 'root' ? createRootlessAccount() : null;
  const carrel = new Installation(account);
  afterAll(async () => {
    await carrel.dispose();
    account?.dispose();
  });

  it('each block of the tour prints what the README shows', async () => {
    const script = ['exec 2>&1', ...steps.map((step) => `${step.script}echo '${mark}'`)].join('\n');
    const { stdout } = await carrel.shell(script, carrel.folder('tour'));
    const outputs = stdout.split(`${mark}\n`).slice(0, steps.length);
    expect(steps.length).toBeGreaterThanOrEqual(5);
    expect(outputs.map(shape)).toEqual(steps.map(({ output }) => shape(output)));
  });
});
