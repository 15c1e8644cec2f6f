import { defineConfig } from 'vitest/config';

/** Everything takes twenty times as long in there. */
export default defineConfig({
  test: {
    include: ['test/vm/*.test.ts'],
    reporters: ['verbose', './test/tally.ts'],
    // What comes after relies on what came before.
    bail: 1,
    testTimeout: 1_200_000,
    hookTimeout: 1_200_000,
  },
});
