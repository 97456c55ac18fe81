import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['**/*.test.ts'],
    globalSetup: ['support/global-postgres.ts', 'support/global-redis.ts'],
    // Two cores: more workers only make real servers wait for each other.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // A machine that is busy with something else must not fail a test that waits for an event.
    teardownTimeout: 20_000,
  },
});
