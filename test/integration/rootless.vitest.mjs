import { defineConfig } from 'vitest/config';

/** What an ordinary user can do too, for an account that may not write here. */
export default defineConfig({
  cacheDir: process.env.CARREL_TEST_CACHE,
  test: {
    include: ['engine-local', 'engine-pause', 'secret', 'secret-given', 'secret-sandbox', 'snapshot'].map(
      (name) => `test/integration/${name}.test.ts`,
    ),
    fileParallelism: false,
    reporters: ['default', './test/tally.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
