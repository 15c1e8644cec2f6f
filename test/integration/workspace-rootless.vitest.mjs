import { defineConfig } from 'vitest/config';

/** The workspace's suite alone, for a namespace in which leftovers of others cannot be seen. */
export default defineConfig({
  test: {
    include: ['test/conformance/workspace.test.ts'],
    reporters: ['default', './test/tally.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
