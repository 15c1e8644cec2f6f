import { defineConfig } from 'vitest/config';

/** Everything takes twenty times as long in there. */
export default defineConfig({
  test: {
    include: ['test/vm/*.test.ts'],
    reporters: ['verbose', './test/tally.ts'],
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
