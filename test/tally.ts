/**
 * Prints the last lines of a run: how long its stages took, and `N passed, N failed`. In CI a skipped or pending test fails the run: it would never
 * run anywhere else.
 */
import type { TestModule, TestRunEndReason } from 'vitest/node';
import type { Reporter } from 'vitest/reporters';
import { stageTimes } from './stage-times.ts';

export default class Tally implements Reporter {
  #passed = 0;
  #failed = 0;

  onInit(): void {
    process.once('exit', () => {
      const stages = process.env.CARREL_TEST_STAGES;
      if (stages) console.log(`\n${stageTimes(stages, Date.now())}`);
      console.log(`\n${this.#passed} passed, ${this.#failures()} failed`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[], _reason: TestRunEndReason): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const skipped = tests.filter((test) => ['skipped', 'pending'].includes(test.result().state));
    const broken = modules.filter((module) => module.errors().length > 0);
    this.#passed = tests.filter((test) => test.result().state === 'passed').length;
    this.#failed = tests.filter((test) => test.result().state === 'failed').length + broken.length + errors.length;
    if (process.env.CI && skipped.length > 0)
      this.#refuse(skipped.map((test) => `${test.module.moduleId}: ${test.fullName}`));
  }

  /** A run that fails without a failed test, by leftovers for example, has one failure. */
  #failures(): number {
    return this.#failed || (process.exitCode ? 1 : 0);
  }

  #refuse(skipped: readonly string[]): void {
    console.error(`\nskipped, which fails the run in CI:\n  ${skipped.join('\n  ')}`);
    this.#failed += skipped.length;
    process.exitCode = 1;
  }
}
