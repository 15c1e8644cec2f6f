import { defineConfig } from 'vitest/config';

/** What an ordinary user can do too, for an account that may not write here. */
export default defineConfig({
  cacheDir: process.env.CARREL_TEST_CACHE,
  test: {
    include: [
      'test/conformance/engine-local.test.ts',
      'test/integration/engine-pause.test.ts',
      'test/integration/secret{,-given,-sandbox}.test.ts',
      'test/integration/snapshot.test.ts',
    ],
    fileParallelism: false,
    reporters: ['default', './test/tally.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
