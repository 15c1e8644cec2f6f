import { defineConfig } from 'vitest/config';

/** Everything takes twenty times as long in the virtual machine. */
export default defineConfig({
  test: {
    include: ['test/vm/*.test.ts'],
    reporters: ['verbose', './test/tally.ts'],
    // Later tests rely on what earlier ones did.
    bail: 1,
    testTimeout: 1_200_000,
    hookTimeout: 1_200_000,
  },
});
