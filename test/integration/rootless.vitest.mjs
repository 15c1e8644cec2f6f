import { defineConfig } from 'vitest/config';

/** The engine's suite alone, for an account that may not write here. */
export default defineConfig({
  cacheDir: process.env.CARREL_TEST_CACHE,
  test: {
    include: ['test/integration/engine-local.test.ts'],
    reporters: ['default', './test/tally.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
