import { defineConfig } from 'vitest/config';

/** The engine's own suites alone, for an account that may not write here. */
export default defineConfig({
  cacheDir: process.env.CARREL_TEST_CACHE,
  test: {
    include: ['test/integration/engine-local.test.ts', 'test/integration/engine-pause.test.ts'],
    fileParallelism: false,
    reporters: ['default', './test/tally.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
